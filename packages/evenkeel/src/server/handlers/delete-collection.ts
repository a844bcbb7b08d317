/**
 * The walk of DELETE on a collection: each object for itself, as if it had been deleted alone.
 */
import { isNotFound, type JsonObject } from '#api'
import type { WireResponse } from '#wire'
import type { RequestContext, ResourceRef, ServerContext } from '../request-context.ts'
import { negotiateResponse, replyDocument } from '../response.ts'
import { prepareConversions, servedType, toServed } from '../storage/codec.ts'
import { deleteObject, deletionAdmission } from './delete.ts'
import { readListOptions } from './list-options.ts'
import { readPage, storedOf } from './list.ts'
import { readOptionsBody } from './request-body.ts'
import { readDeleteOptions } from './write-options.ts'

/** How many deletions are under way at once: enough to share a sync of the disk. */
const concurrency = 64

export async function deleteCollection(
  call: RequestContext,
  target: ResourceRef,
  server: ServerContext,
): Promise<WireResponse> {
  const { resource } = target
  const choice = negotiateResponse(call, resource, { answer: 'document' })
  const listed = readListOptions(call.query, { watch: false })
  const options = readDeleteOptions(call.query, await readOptionsBody(call.request))
  const page = await readPage(target, listed, { server, share: server.flowControl.sliceList(call.request) })
  const items = storedOf(page)
  const waiting = items.values()
  const admission = deletionAdmission(call, target, { options, server })
  const removeRest = async (): Promise<void> => {
    for (const {
      object: {
        metadata: { name = '', namespace = '' },
      },
    } of waiting) {
      await deleteObject({ ...target, name, namespace }, { ...options, admission }, server).catch((error: unknown) => {
        if (!isNotFound(error)) throw error
      })
    }
  }
  await Promise.all(Array.from({ length: concurrency }, removeRest))
  const preparing = prepareConversions(items, resource, { reuse: true })
  if (preparing) await preparing
  const objects = items.map((stored) => toServed(stored, resource) as unknown as JsonObject)
  const document = {
    kind: resource.listKind,
    apiVersion: servedType(resource).apiVersion,
    metadata: page.metadata as JsonObject,
    items: objects,
  }
  return replyDocument(call, document, { choice: { format: choice.format } })
}
