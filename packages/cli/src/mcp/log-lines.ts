/**
 * The last lines of an output, in bounded memory, however long the output and its lines are.
 *
 * Worked example: of `a1 b1 a2 b2 a3`, a word each line, `grep: 'a'` and `tailLines: 2` keep `a2 a3`.
 */
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'

interface LogLinesOptions {
  readonly tailLines: number
  /** Only lines that contain this text, in any case. @default all */
  readonly grep?: string | undefined
  /** How many bytes the lines may have together. */
  readonly bytesMax: number
  /** Of the query: `previous`, `sinceSeconds`. */
  readonly parameters: Readonly<Record<string, string | number | boolean>>
  readonly signal: AbortSignal
}

interface LogLines {
  readonly lines: readonly string[]
  /** Lines that were asked for are left out, or a line is cut, because there was no room. */
  readonly isCut: boolean
}

const lineLengthMax = 4096

/** @throws {ApiError} when the server refuses. */
export async function readLogLines(
  client: Pick<Client, 'subresource'>,
  object: KubeObject,
  { tailLines, grep, bytesMax, parameters, signal }: LogLinesOptions,
): Promise<LogLines> {
  const tail = new LineTail(tailLines, bytesMax)
  const wanted = grep?.toLowerCase()
  // With grep the lines that match are counted here.
  const query = wanted === undefined ? { ...parameters, tailLines } : parameters
  const take = (line: string): void => {
    if (wanted === undefined || line.toLowerCase().includes(wanted)) tail.add(line.replace(/\r$/, ''))
  }
  let rest = ''
  for await (const piece of client.subresource('log').stream(object, { parameters: { ...query }, signal })) {
    const lines = `${rest}${piece}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(line)
    // The end of a line without an end must not fill the memory.
    if (rest.length > 2 * lineLengthMax) rest = rest.slice(0, 2 * lineLengthMax)
  }
  if (rest !== '') take(rest)
  return tail
}

/** The last lines within a number of lines and bytes. */
class LineTail implements LogLines {
  readonly #linesMax: number
  readonly #bytesMax: number
  #lines: string[] = []
  #bytes = 0
  isCut = false

  constructor(linesMax: number, bytesMax: number) {
    this.#linesMax = linesMax
    this.#bytesMax = bytesMax
  }

  get lines(): readonly string[] {
    return this.#lines
  }

  add(line: string): void {
    const own = line.length > lineLengthMax ? `${line.slice(0, lineLengthMax)}…` : line
    if (own !== line) this.isCut = true
    this.#lines.push(own)
    this.#bytes += sizeOf(own)
    if (this.#lines.length > this.#linesMax) this.#dropFirst()
    while (this.#bytes > this.#bytesMax && this.#lines.length > 1) {
      this.#dropFirst()
      this.isCut = true
    }
  }

  #dropFirst(): void {
    this.#bytes -= sizeOf(this.#lines.shift() ?? '')
  }
}

/** As an entry of a JSON list. */
function sizeOf(line: string): number {
  return Buffer.byteLength(line) + 3
}
