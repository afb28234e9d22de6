// Where this server is, for commands that somebody pastes into a terminal.

/** Without a slash at its end: http://127.0.0.1:7400 */
export function serverAddress(): string {
  return new URL('.', document.baseURI).href.replace(/\/$/, '');
}
