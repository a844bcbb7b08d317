/** The first bytes of a body, as `limitBytes` asks for them. The body is ended after them. */
export async function* firstBytes(body: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array, void> {
  let left = limit
  for await (const piece of body) {
    yield piece.subarray(0, left)
    left -= piece.length
    if (left <= 0) return
  }
}
