/**
 * What happened to an object, for people: the source `system` of its log, one line for each thing, with its time.
 *
 * Invariant: a log that cannot be written does not change what happens to the object.
 */
import type { Files } from '@evenkeel/workloads'
import type { KubeObject } from 'evenkeel'
import { formatMicroTime } from 'evenkeel/unstable/api'
import type { Clock, Logger } from 'evenkeel/unstable/base'

interface ObjectLogOptions {
  /** Where the logs are, as `resource-KIND-UID.log`. */
  readonly folder: string
  readonly files: Pick<Files, 'appendText'>
  readonly clock: Clock
  readonly log: Logger
}

export class ObjectLog {
  readonly #options: ObjectLogOptions

  constructor(options: ObjectLogOptions) {
    this.#options = options
  }

  async write({ kind, metadata: { uid = '', name } }: KubeObject, message: string): Promise<void> {
    const { folder, files, clock, log } = this.#options
    log.info('object changed', { kind, object: name, message })
    try {
      const line = `${formatMicroTime(clock.now())} ${message.replaceAll('\n', ' ')}\n`
      await files.appendText(`${folder}/resource-${kind.toLowerCase()}-${uid}.log`, line)
    } catch (error) {
      log.warn('cannot write log of object', { kind, object: name, error })
    }
  }
}
