/**
 * A client in a process of its own: reads one URL and prints how many bytes came in how many milliseconds.
 *
 * `READER` has `{"url","ca","token"}`.
 */
import { get } from 'node:https'

const { url, ca, token } = JSON.parse(process.env['READER'] ?? '')
const started = performance.now()
get(url, { ca, headers: { authorization: `Bearer ${token}` } }, (response) => {
  let bytes = 0
  response.on('data', (piece) => {
    bytes += piece.length
  })
  response.on('end', () => {
    process.stdout.write(JSON.stringify({ status: response.statusCode, bytes, ms: performance.now() - started }))
  })
})
