/** A receipt that cannot be read at all: not one, or cut. One sentence. */
export class ReceiptError extends Error {
  override readonly name = 'ReceiptError';
}
