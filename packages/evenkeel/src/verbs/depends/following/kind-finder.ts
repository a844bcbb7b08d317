/**
 * From a group and a kind to the version that the server prefers.
 *
 * A kind that is not there is looked for again, because its definition may come, but not with every question.
 */
import type { AbortOptions, Clock } from '#base'
import type { Kind } from '#api'
import type { Client } from '#client'
import type { GroupKind } from '../reference.ts'
import type { FollowedType } from './followed-kind.ts'

/** For so long nobody asks again. */
const reloadMs = 5000

export class KindFinder {
  readonly #clock: Clock
  #loadedAtMs = -Infinity

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock
  }

  /** The kind as it can be followed; undefined when the server has none of it. `fresh`: what was found before is of no use any more. */
  async find(
    choice: Kind | GroupKind,
    { client, fresh = false, signal }: AbortOptions & { client: Pick<Client, 'resources'>; fresh?: boolean },
  ): Promise<FollowedType | undefined> {
    if ('plural' in choice && 'scope' in choice) return typeOf(choice)
    const now = this.#clock.monotonic()
    const mayReload = now - this.#loadedAtMs >= reloadMs
    for (const reload of fresh ? (mayReload ? [true] : []) : mayReload ? [false, true] : [false]) {
      if (reload) this.#loadedAtMs = now
      const resources = await client.resources({ reload, ...(signal && { signal }) })
      const found = resources.find(
        ({ group, kind, verbs }) =>
          group === choice.group && kind === choice.kind && verbs.includes('list') && verbs.includes('watch'),
      )
      if (found)
        return {
          apiVersion: found.apiVersion,
          kind: found.kind,
          group: found.group,
          plural: found.plural,
          namespaced: found.namespaced,
          full: undefined,
        }
    }
    return undefined
  }
}

/** A kind that needs no finding. */
export function typeOf(kind: Kind): FollowedType {
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    group: kind.group,
    plural: kind.plural,
    namespaced: kind.scope === 'Namespaced',
    full: kind,
  }
}
