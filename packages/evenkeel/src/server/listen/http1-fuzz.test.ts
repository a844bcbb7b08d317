/**
 * The connection as a whole, under bytes cut anywhere and under garbage: over a pair of streams in memory, so that thousands fit in a second.
 */
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { silentLogger, SimulatedClock } from '#base'
import type { WireRequest } from '#wire'
import { withDefaultListenLimits } from './connection.ts'
import { HeldBytes } from './held-bytes.ts'
import { OutputPace } from './turn-budget.ts'
import { PendingOutput } from './pending-output.ts'
import { Http1Connection } from './http1-connection.ts'
import { echo } from './served.fixture.ts'
import { SocketClock, turn } from './turns.fixture.ts'

interface Run {
  readonly output: string
  readonly requests: WireRequest[]
  readonly isEnded: boolean
}

/** Feeds the pieces in turn to a connection that echoes, and ends when it has nothing more to do. */
async function run(pieces: readonly Buffer[]): Promise<Run> {
  let output = ''
  const requests: WireRequest[] = []
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      output += chunk.toString('latin1')
      done()
    },
  })
  const transport = (request: WireRequest) => {
    requests.push(request)
    return echo(request)
  }
  const limits = withDefaultListenLimits({ unreadBodyBytesMax: 16, headBytesMax: 2000 })
  const connection = new Http1Connection(socket as Socket, {
    transport,
    limits,
    clock: new SimulatedClock(),
    log: silentLogger,
    date: () => 'now',
    peer: { address: '', encrypted: false },
    held: new HeldBytes(1_000_000),
    pending: new PendingOutput(1_000_000),
    pace: new OutputPace(new SocketClock()),
  })
  for (const piece of pieces) {
    socket.push(piece)
    if (pieces.length < 20) await turn()
  }
  for (let turns = 0; turns < 12; turns++) await turn()
  const isEnded = socket.writableEnded
  connection.retire()
  socket.destroy()
  return { output, requests, isEnded }
}

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set([0, ...cuts.map((place) => place % (bytes.length + 1)), bytes.length])].sort(
    (a, b) => a - b,
  )
  return places.slice(0, -1).map((from, index) => bytes.subarray(from, places[index + 1]))
}

const requests = [
  'GET /a HTTP/1.1\r\nHost: a\r\nX-Y: z\r\n\r\n',
  '\r\nPOST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nsmall',
  'POST /long HTTP/1.1\r\nHost: a\r\nContent-Length: 26\r\n\r\nabcdefghijklmnopqrstuvwxyz',
  'POST /chunked HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x\r\ndefg\r\n0\r\nT: 1\r\n\r\n',
  'HEAD /head HTTP/1.1\r\nHost: a\r\n\r\n',
]

test('Http1Connection answers the same however the bytes of its requests are cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(requests, { minLength: 1 }),
      fc.array(fc.nat(), { maxLength: 30 }),
      async (chosen, cuts) => {
        const bytes = Buffer.from(chosen.join(''), 'latin1')
        const [whole, pieces] = [await run([bytes]), await run(cut(bytes, cuts))]
        expect(pieces.output).toBe(whole.output)
        expect(pieces.requests.map(({ target }) => target)).toEqual(chosen.map((text) => /\/\w+/.exec(text)?.[0]))
        expect(pieces.isEnded).toBe(false)
      },
    ),
    { numRuns: 60 },
  )
})

const fragment = fc.oneof(
  fc.constantFrom(
    ...requests,
    'GET / HTTP/1.1\r\n',
    'Host: a\r\n',
    'Content-Length: 5\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Expect: 100-continue\r\n',
    '\r\n',
    '\r\n\r\n',
    '5\r\n',
    '0\r\n',
    'HTTP/1.1',
    ' ',
    ':',
    '\n',
    '\r',
    '\0',
  ),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
)

test('Http1Connection answers garbage with whole responses or not at all, and never throws', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fragment, { maxLength: 12 }),
      fc.array(fc.nat(), { maxLength: 6 }),
      async (fragments, cuts) => {
        const { output, isEnded } = await run(cut(Buffer.from(fragments.join(''), 'latin1'), cuts))
        expect(output).toMatch(/^(?:HTTP\/1\.1 \d{3} [^]*)?$/)
        const lastStatus = Number(
          output
            .match(/HTTP\/1\.1 (\d{3})/g)
            ?.at(-1)
            ?.slice(9) ?? 200,
        )
        if (lastStatus >= 400) expect(isEnded).toBe(true)
        expect(lastStatus).not.toBe(500)
      },
    ),
    { numRuns: 150 },
  )
})
