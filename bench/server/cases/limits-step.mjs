/**
 * A TLS server that only writes prepared bytes as fast as the client reads: the upper bound for any server here.
 *
 * A client selects with one byte: `w` for an endless watch, `l` for one list. Prints its port
 * and certificate as JSON; ends with its input.
 */
// @ts-check
import { createServer } from 'node:tls'
import { issueServerCertificate, makeAuthority } from 'evenkeel/unstable/wire'
import { SystemClock, SystemRandom } from 'evenkeel/unstable/base'

const [eventBytes = 0, listBytes = 0] = process.argv.slice(2).map(Number)
/** Events per write: larger writes gain nothing. */
const joined = 16
const piece = Buffer.alloc(eventBytes * joined, 'event of a watch, made once ')
const list = Buffer.alloc(listBytes, 'object of a list, made once ')

const seams = { clock: new SystemClock(), random: new SystemRandom() }
const authority = makeAuthority(seams)
const { keyPem, certificatePem } = issueServerCertificate(authority, { ...seams, names: ['127.0.0.1'] })
const server = createServer({ key: keyPem, cert: certificatePem, minVersion: 'TLSv1.3' }, (socket) => {
  socket.on('error', () => undefined)
  socket.setNoDelay(true)
  socket.on('data', (asked) => {
    for (const letter of asked)
      if (letter === 0x77) fill(socket)
      else socket.write(list)
  })
})

/** @param {import('node:tls').TLSSocket} socket */
function fill(socket) {
  const write = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', write)
  write()
}

server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.stdout.write(`${JSON.stringify({ port, caPem: authority.certificatePem, listBytes: list.length })}\n`)
})
process.stdin.resume().on('end', () => process.exit(0))
