/**
 * A machine made of a list: files, environment, programs.
 */
import type { Host, ProgramCall, ProgramResult } from './host.ts'

export interface FakeHostOptions {
  readonly env?: Readonly<Record<string, string>>
  /** May be changed while it is used. */
  readonly files?: Record<string, string>
  readonly isTerminal?: boolean
  readonly program?: (call: ProgramCall) => ProgramResult | Promise<ProgramResult>
}

export class FakeHost implements Host {
  readonly env: Readonly<Record<string, string>>
  readonly home = '/home/me'
  readonly pathDelimiter = ':'
  readonly isTerminal: boolean
  readonly files: Record<string, string>
  readonly runs: ProgramCall[] = []
  readonly #program: FakeHostOptions['program']

  constructor({ env = {}, files = {}, isTerminal = false, program }: FakeHostOptions = {}) {
    this.env = env
    this.files = files
    this.isTerminal = isTerminal
    this.#program = program
  }

  async readFile(path: string): Promise<string> {
    await Promise.resolve()
    const text = this.files[path]
    if (text === undefined)
      throw Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), { code: 'ENOENT' })
    return text
  }

  async runProgram(call: ProgramCall): Promise<ProgramResult> {
    this.runs.push(call)
    if (!this.#program) throw Object.assign(new Error('spawn ENOENT'), { code: 'ENOENT' })
    return this.#program(call)
  }
}
