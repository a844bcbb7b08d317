/**
 * One connection to a server, with one request in flight at a time.
 *
 * All connections of the process share one read buffer: each read is processed before the next one.
 */
import net from 'node:net'
import tls from 'node:tls'
import type { Address } from './jobs.ts'
import { ResponseReader } from './response-reader.ts'
import type { ResponseSink } from './response-reader.ts'

/** A complete response. The same object is reused for the next one. */
export interface Response {
  status: number
  bodyBytes: number
  /** Present on request. */
  body: Buffer | undefined
}

export interface AskOptions {
  /**
   * Keep the body and not only its length.
   *
   * @default false
   */
  readonly keepBody?: boolean
}

type Answered = (response: Response) => void

const readBuffer = Buffer.allocUnsafeSlow(256 << 10)
const noSink: ResponseSink = {
  head: () => undefined,
  body: () => undefined,
  end: () => {
    throw new Error('received a response without a request')
  },
}

export class Connection {
  /** Called when the connection is lost or the bytes are not a response, but not when we close the connection. */
  onFail: (error: Error) => void = () => undefined
  readonly #socket: net.Socket
  readonly #response: Response = { status: 0, bodyBytes: 0, body: undefined }
  readonly #collect: ResponseSink
  #sink: ResponseSink = noSink
  #pieces: Buffer[] | undefined
  #answered: Answered | undefined
  #isClosed = false

  /** Resolves when requests can be sent. */
  static open(address: Address): Promise<Connection> {
    return new Promise((opened, failed) => {
      const connection = new Connection(address, () => {
        opened(connection)
      })
      connection.onFail = failed
    })
  }

  private constructor(address: Address, opened: () => void) {
    this.#collect = this.#makeCollector()
    const reader = new ResponseReader({
      head: (status) => {
        this.#sink.head(status)
      },
      body: (bytes, start, end) => {
        this.#sink.body(bytes, start, end)
      },
      end: () => {
        this.#sink.end()
      },
    })
    this.#socket = connect(address, {
      opened,
      read: (bytes) => {
        this.#guard(() => {
          reader.push(bytes)
        })
      },
    })
    this.#socket.on('error', (error) => {
      this.#fail(error)
    })
    this.#socket.on('close', () => {
      this.#fail(new Error('the server closed a connection'))
    })
  }

  /** Calls back inside the read, without a promise. */
  send(bytes: Buffer, { keepBody = false }: AskOptions, answered: Answered): void {
    if (this.#isClosed) {
      this.onFail(new Error('the server has closed this connection'))
      return
    }
    this.#sink = this.#collect
    this.#pieces = keepBody ? [] : undefined
    this.#answered = answered
    this.#socket.write(bytes)
  }

  ask(text: string, options: AskOptions = {}): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.onFail = reject
      this.send(Buffer.from(text, 'latin1'), options, resolve)
    })
  }

  /** For an endless response. */
  stream(text: string, sink: ResponseSink): void {
    this.#sink = sink
    this.#socket.write(text, 'latin1')
  }

  close(): void {
    this.#isClosed = true
    this.#socket.destroy()
  }

  #makeCollector(): ResponseSink {
    const response = this.#response
    return {
      head: (status) => {
        response.status = status
        response.bodyBytes = 0
      },
      body: (bytes, start, end) => {
        response.bodyBytes += end - start
        this.#pieces?.push(Buffer.from(bytes.subarray(start, end)))
      },
      end: () => {
        response.body = this.#pieces && Buffer.concat(this.#pieces)
        this.#sink = noSink
        this.#answered?.(response)
      },
    }
  }

  #guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  #fail(error: Error): void {
    if (this.#isClosed) return
    this.close()
    this.onFail(error)
  }
}

function connect(
  { url, caPem }: Address,
  { opened, read }: { opened: () => void; read: (bytes: Buffer) => void },
): net.Socket {
  const { protocol, hostname, port } = new URL(url)
  const isSecure = protocol === 'https:'
  const where = {
    host: hostname,
    port: Number(port || (isSecure ? 443 : 80)),
    onread: {
      buffer: readBuffer,
      callback: (length: number) => {
        read(readBuffer.subarray(0, length))
        return true
      },
    },
  }
  if (!isSecure) return net.connect({ ...where, noDelay: true }, opened)
  const trust = caPem === undefined ? { rejectUnauthorized: false } : { ca: caPem }
  const socket = tls.connect(
    { ...where, ...trust, ALPNProtocols: ['http/1.1'], ...(net.isIP(hostname) === 0 && { servername: hostname }) },
    opened,
  )
  return socket.setNoDelay(true)
}
