/**
 * The Model Context Protocol over stdin and stdout: a JSON document per line.
 *
 * It ends with stdin. Requests that came before the end are still answered, so that a script can write some lines and
 * close; a call that takes long is aborted.
 */
import { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { Io, Output } from '../command.ts'
import type { McpHost } from './mcp-host.ts'

/** How long calls may go on after the end of stdin. Clients kill a server that takes 2 s. */
const patienceMs = 1000

/** Serves until stdin ends or the signal aborts. */
export async function serveStdio(
  host: McpHost,
  signal: AbortSignal,
  { stdin, stdout, clock }: Pick<Io, 'stdin' | 'stdout' | 'clock'>,
): Promise<void> {
  const input = stdin instanceof Readable ? stdin : Readable.from(stdin)
  const transport = new StdioServerTransport(input, stdout instanceof Writable ? stdout : writableTo(stdout))
  const over = new AbortController()
  const finish = (): void => over.abort(new Error('stdin ended'))
  const pending = new PendingRequests(transport)
  let forget = (): void => undefined
  input.once('end', () => {
    forget = clock.after(patienceMs, finish)
    void pending.answered.then(finish)
  })
  input.once('close', () => {
    if (!input.readableEnded) finish()
  })
  input.once('error', finish)
  await host.serve(transport, AbortSignal.any([signal, over.signal]))
  forget()
  // A pending read would keep the process alive.
  input.destroy()
}

/** The requests of a transport that have no answer yet. */
class PendingRequests {
  readonly #ids = new Set<RequestId>()
  #onAnswered: () => void = () => undefined

  constructor(transport: StdioServerTransport) {
    const send = transport.send.bind(transport)
    transport.send = async (message) => {
      await send(message)
      if (!('method' in message) && message.id !== undefined) this.#ids.delete(message.id)
      if (this.#ids.size === 0) this.#onAnswered()
    }
    transport.onmessage = (message: JSONRPCMessage) => {
      if ('method' in message && 'id' in message) this.#ids.add(message.id)
    }
  }

  /** Resolves when none is left. */
  get answered(): Promise<void> {
    if (this.#ids.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onAnswered = resolve
    })
  }
}

function writableTo(output: Output): Writable {
  return new Writable({
    write: (piece: Buffer, _, done) => {
      output.write(piece.toString())
      done()
    },
  })
}
