/** Bytes of the buffers that a device has, counted at WebGPU's own calls. What a driver adds for its own use is not in it. */
export interface BufferBytes {
  /** Of the buffers that were made and not destroyed. */
  readonly live: number;
  /** The most that were live at once. */
  readonly peak: number;
}

/** Counts a device's buffers from now on. */
export function countBuffers(device: GPUDevice): BufferBytes {
  const bytes = { live: 0, peak: 0 };
  const create = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    const buffer = create(descriptor);
    const destroy = buffer.destroy.bind(buffer);
    let left = descriptor.size;
    bytes.live += left;
    bytes.peak = Math.max(bytes.peak, bytes.live);
    buffer.destroy = () => {
      bytes.live -= left;
      left = 0;
      return destroy();
    };
    return buffer;
  };
  return bytes;
}
