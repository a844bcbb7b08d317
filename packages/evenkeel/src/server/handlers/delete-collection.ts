/**
 * DELETE of a collection: each object is deleted as if by its own request.
 */
import { isNotFound } from '#api'
import type { WireResponse } from '#wire'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { negotiateResponse } from '../response.ts'
import { StoredObject } from '../storage/stored-object.ts'
import type { DeleteHandler } from './delete.ts'
import { readListOptions } from './list-options.ts'
import type { ListHandler } from './list.ts'
import { readOptionsBody } from './request-body.ts'
import { readDeleteOptions } from './write-options.ts'

/** Deletions at the same time: enough to share a sync of the disk. */
const roundObjects = 64
/** Each deletion holds a copy of its object, for watchers, until it is on disk: large objects go in smaller rounds. */
const roundBytes = 4_194_304

export class DeleteCollectionHandler {
  readonly #lists: ListHandler
  readonly #deletes: DeleteHandler

  constructor({ lists, deletes }: { readonly lists: ListHandler; readonly deletes: DeleteHandler }) {
    this.#lists = lists
    this.#deletes = deletes
  }

  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { resource } = target
    const choice = negotiateResponse(context, resource, { answer: 'document' })
    const listed = readListOptions(context.query, { watch: false })
    const options = readDeleteOptions(context.query, await readOptionsBody(context))
    const slices = this.#lists.slicesFor(context)
    const page = await this.#lists.readPage(target, listed, slices)
    const admission = this.#deletes.admissionFor(context, target, options)
    for (const round of roundsOf(page.entries)) {
      const removals = round.map(async ({ value, revision }) => {
        const pausing = slices.add(value.byteLength)
        if (pausing) await pausing
        const stored = new StoredObject(value, revision)
        const [name = '', namespace = ''] = [stored.metadataField('name'), stored.metadataField('namespace')]
        await this.#deletes
          .delete({ ...target, name, namespace }, { ...options, admission, listed: stored })
          .catch(ignoreNotFound)
      })
      await Promise.all(removals)
    }
    return this.#lists.reply(context, page, { target, choice: { format: choice.format }, slices })
  }
}

/** The entries in rounds of at most 64 objects and 4 MiB; a larger object has a round of its own. */
function* roundsOf<T extends { readonly value: Uint8Array }>(entries: Iterable<T>): Iterable<readonly T[]> {
  let round: T[] = []
  let bytes = 0
  for (const entry of entries) {
    const size = entry.value.byteLength
    if (round.length > 0 && (round.length === roundObjects || bytes + size > roundBytes)) {
      yield round
      round = []
      bytes = 0
    }
    round.push(entry)
    bytes += size
  }
  if (round.length > 0) yield round
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error
}
