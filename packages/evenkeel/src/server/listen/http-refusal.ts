/**
 * A request that is not even HTTP as we accept it: answered in plain text by the listener, the server never sees it.
 */
export class HttpProtocolError extends Error {
  override readonly name = 'HttpRefusal'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
