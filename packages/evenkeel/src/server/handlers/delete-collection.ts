/**
 * DELETE of a collection: each object is deleted as if by its own request.
 */
import { isNotFound, type JsonObject } from '#api'
import type { WireResponse } from '#wire'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { negotiateResponse, replyDocument } from '../response.ts'
import { prepareConversions, servedType, toServed } from '../storage/codec.ts'
import type { DeleteHandler } from './delete.ts'
import { readListOptions } from './list-options.ts'
import { storedOf, type ListHandler } from './list.ts'
import { readOptionsBody } from './request-body.ts'
import { readDeleteOptions } from './write-options.ts'

/** Deletions at the same time: enough to share a sync of the disk. */
const concurrency = 64

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
    const page = await this.#lists.readPage(target, listed, this.#lists.slicesFor(context))
    const items = storedOf(page)
    const waiting = items.values()
    const admission = this.#deletes.admissionFor(context, target, options)
    const removeRest = async (): Promise<void> => {
      for (const { object } of waiting) {
        const { name = '', namespace = '' } = object.metadata
        await this.#deletes.delete({ ...target, name, namespace }, { ...options, admission }).catch(ignoreNotFound)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, removeRest))
    const preparing = prepareConversions(items, resource, { reuse: true })
    if (preparing) await preparing
    const objects = items.map((stored) => toServed(stored, resource))
    const document = {
      kind: resource.listKind,
      apiVersion: servedType(resource).apiVersion,
      metadata: page.metadata as JsonObject,
      items: objects,
    }
    return replyDocument(context, document, { choice: { format: choice.format } })
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error
}
