import { createServer, type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { openLog } from '../events.ts';
import { openDeviceQueues } from './device-queues.ts';

/** A server that answers as Redis of some version does at the opening of a connection. */
async function redisOf(version: string): Promise<{ url: string; close(): void }> {
  const info = `# Server\r\nredis_version:${version}\r\nloading:0\r\n`;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      // Each command is an array of bulk strings; its first one names it.
      for (const [, name] of data.toString('latin1').matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        const command = name!.toLowerCase();
        if (command === 'info') socket.write(`$${Buffer.byteLength(info)}\r\n${info}\r\n`);
        else if (command === 'hello') socket.write(`%1\r\n$7\r\nversion\r\n$${version.length}\r\n${version}\r\n`);
        else socket.write('+OK\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

it.each(['5.0.14', '6.0.16'])('refuses Redis %s, which is older than 6.2', async (version) => {
  const server = await redisOf(version);
  try {
    await expect(openDeviceQueues(server.url, openLog('silent'), () => {})).rejects.toThrow(new RegExp(`^Redis ${version} is older than 6\\.2\\. next:`));
  } finally {
    server.close();
  }
});

it.each(['6.2.0', '7.0.15', '10.1.0'])('takes Redis %s', async (version) => {
  const server = await redisOf(version);
  const queues = await openDeviceQueues(server.url, openLog('silent'), () => {});
  try {
    await expect(queues.ping()).resolves.toBeUndefined();
  } finally {
    await queues.close();
    server.close();
  }
});
