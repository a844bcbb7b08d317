/**
 * What a runtime says while a container is made, as two logs of the Container: what it does, and why it failed.
 *
 * Invariant: a log that cannot be written does not change what happens to the object.
 */
import type { Files } from '@evenkeel/workloads'
import { formatMicroTime } from 'evenkeel/unstable/api'
import type { Clock, Logger } from 'evenkeel/unstable/base'

interface StartupLogOptions {
  readonly folder: string
  readonly files: Pick<Files, 'appendText' | 'removeFile'>
  readonly clock: Clock
  readonly log: Logger
}

export class StartupLog {
  readonly #options: StartupLogOptions

  constructor(options: StartupLogOptions) {
    this.#options = options
  }

  /** As the status names them. */
  filesOf(uid: string) {
    const prefix = `${this.#options.folder}/startup-container-${uid}`
    return { startupStdOutFile: `${prefix}.out.log`, startupStdErrFile: `${prefix}.err.log` }
  }

  write(uid: string, note: string): Promise<void> {
    return this.#append(this.filesOf(uid).startupStdOutFile, note)
  }

  fail(uid: string, why: string): Promise<void> {
    return this.#append(this.filesOf(uid).startupStdErrFile, why)
  }

  async remove(uid: string): Promise<void> {
    for (const path of Object.values(this.filesOf(uid))) await this.#options.files.removeFile(path)
  }

  async #append(path: string, text: string): Promise<void> {
    const { files, clock, log } = this.#options
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    const stamped = lines.map((line) => `${formatMicroTime(clock.now())} ${line}\n`)
    try {
      await files.appendText(path, stamped.join(''))
    } catch (error) {
      log.warn('cannot write log of start', { path, error })
    }
  }
}
