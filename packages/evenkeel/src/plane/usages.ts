/**
 * Lists the Usages of an object. While the Usage CRDs are not installed, the server is asked at most once per second.
 */
import { compareText, isNotFound } from '#api'
import type { AbortOptions, Clock } from '#base'
import { Client, isUnknownKind } from '#client'
import { ClusterUsage, Usage, usageLabel, usageLabelOf } from '#verbs'
import type { Transport } from '#wire'

interface UsedObject {
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** How long missing Usage CRDs are not looked up again; a create of a Usage on this server resets it. */
const absentMs = 1000

export class Usages {
  readonly #client: Client
  readonly #clock: Clock
  #absentAtMs = -Infinity

  constructor({ transport, clock }: { transport: Transport; clock: Clock }) {
    this.#client = new Client({ transport, clock })
    this.#clock = clock
  }

  /** A Usage was created: its CRD exists now. */
  reset(): void {
    this.#absentAtMs = -Infinity
  }

  /** The users of an object, for messages: `Route default/r (the Route depends on it)`. */
  async usersOf(used: UsedObject, options: AbortOptions = {}): Promise<readonly string[]> {
    if (this.#clock.monotonic() - this.#absentAtMs < absentMs) return []
    const lists = await Promise.all([this.#list(Usage, used, options), this.#list(ClusterUsage, used, options)])
    if (lists.every((list) => list === undefined)) this.#absentAtMs = this.#clock.monotonic()
    return lists.flatMap((list) => list ?? []).sort(compareText)
  }

  /** Undefined if the CRD is not installed. */
  async #list(kind: typeof Usage, used: UsedObject, options: AbortOptions): Promise<readonly string[] | undefined> {
    try {
      const { items } = await this.#client.list(kind, {
        labelSelector: `${usageLabel}=${usageLabelOf(used)}`,
        pageSize: 0,
        ...options,
      })
      return items
        .filter(({ metadata: { deletionTimestamp } }) => deletionTimestamp === undefined)
        .map(({ spec: { by, reason = '' } }) => {
          const { namespace = '' } = by
          return `${by.kind} ${namespace === '' ? by.name : `${namespace}/${by.name}`}${reason === '' ? '' : ` (${reason})`}`
        })
    } catch (error) {
      if (isNotFound(error) || isUnknownKind(error)) return undefined
      throw error
    }
  }
}
