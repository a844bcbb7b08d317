/**
 * Looks for a text in a log that grows, from where it stopped the last time.
 *
 * Worked example: `contains: 'ready'`, a program that writes `\x1b[32mre` and later `ady\x1b[0m\n`. Colour codes are removed
 * and the unfinished line is kept, so the second look finds `ready`. UTF-16 is recognized by its byte order mark or by the
 * NUL bytes of ASCII letters.
 *
 * Invariants: memory is bounded by one chunk and one line; a text in a line that is longer than `lineLength` is found, unless
 * it lies across a multiple of it.
 */
import type { Files } from '../files.ts'
import type { ProbeOutcome } from '../prober.ts'

interface LogScannerOptions {
  readonly files: Pick<Files, 'findBytes'>
  readonly path: string
  readonly contains: string
  /** Where the log begins: what is before was released. @default 0 */
  readonly findStart?: () => Promise<number>
}

const chunkBytes = 65_536
const lineLength = 65_536

export class LogScanner {
  readonly #options: LogScannerOptions
  #decoder: InstanceType<typeof TextDecoder> | undefined
  #offset: number | undefined
  #line = ''
  #hasFound = false

  constructor(options: LogScannerOptions) {
    this.#options = options
  }

  /** Reads what was added. Once the text was found, it stays found. */
  async scan(): Promise<ProbeOutcome> {
    const { files, path, contains, findStart } = this.#options
    this.#offset ??= (await findStart?.()) ?? 0
    while (!this.#hasFound) {
      const bytes = await files.findBytes(path, { offset: this.#offset, length: chunkBytes })
      if (!bytes || bytes.length === 0) break
      this.#offset += bytes.length
      this.#hasFound = this.#add(bytes)
    }
    return this.#hasFound
      ? { isOk: true, output: `the log contains ${JSON.stringify(contains)}` }
      : { isOk: false, output: `the log does not contain ${JSON.stringify(contains)} yet` }
  }

  #add(bytes: Uint8Array): boolean {
    this.#decoder ??= new TextDecoder(encodingOf(bytes))
    this.#line += this.#decoder.decode(bytes, { stream: true })
    if (withoutAnsi(this.#line).includes(this.#options.contains)) return true
    this.#line = this.#line.slice(this.#line.lastIndexOf('\n') + 1)
    if (this.#line.length > lineLength) this.#line = ''
    return false
  }
}

function encodingOf(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0 && second !== undefined)) return 'utf-16be'
  return 'utf-8'
}

const escapeCharacter = '\u001b'
const ansi = new RegExp(
  `${escapeCharacter}(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\\u0007${escapeCharacter}]*(?:\\u0007|${escapeCharacter}\\\\)|[@-Z\\\\-_])`,
  'g',
)

function withoutAnsi(text: string): string {
  return text.includes(escapeCharacter) ? text.replace(ansi, '') : text
}
