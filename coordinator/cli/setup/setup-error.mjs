/** A set-up step that cannot go on: its message is one line of what, why and the next command. */
export class SetupError extends Error {
  /**
   * @param {string} message
   * @param {number} exitCode 2 wrong use (an old Node), 5 the machine lacks something
   */
  constructor(message, exitCode = 5) {
    super(message);
    this.exitCode = exitCode;
  }
}
