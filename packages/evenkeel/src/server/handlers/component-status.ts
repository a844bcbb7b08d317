/**
 * ComponentStatuses, which every cluster has and no client needs any more: the scheduler, the controller manager and
 * the store. The server knows the store only; the others are programs of their own that it does not ask.
 */
import { notFound, type UnstructuredObject } from '#api'
import type { Clock } from '#base'
import type { WireResponse } from '#wire'
import { transformedObjects } from '../list/list-response.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { negotiateResponse, replyDocument, replyObject } from '../response.ts'
import { servedType } from '../storage/codec.ts'
import type { Storage } from '../storage/storage.ts'

export class ComponentStatusHandler {
  readonly #storage: Storage
  readonly #clock: Clock

  constructor({ storage, clock }: { readonly storage: Storage; readonly clock: Clock }) {
    this.#storage = storage
    this.#clock = clock
  }

  /** Answers a read: nothing is stored, so nothing can be written. */
  handle(context: RequestContext, { resource, name }: ResourceRef): WireResponse {
    const clock = this.#clock
    const components = this.#components(servedType(resource))
    if (context.verb === 'get') {
      const found = components.find(({ metadata }) => metadata.name === name)
      if (!found) throw notFound({ group: resource.group, kind: resource.singular, name })
      return replyObject(context, found, { resource, clock, choice: negotiateResponse(context, resource) })
    }
    if (context.verb !== 'list') throw notFound({ group: resource.group, kind: resource.plural, name })
    const choice = negotiateResponse(context, resource, { answer: 'list' })
    const document = transformedObjects(components, { context, resource, clock, choice, metadata: {} })
    return replyDocument(context, document, { choice })
  }

  #components({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): UnstructuredObject[] {
    const failure = this.#storage.store.failure()
    const health = (name: string, status: string, message: string): UnstructuredObject => ({
      kind,
      apiVersion,
      metadata: { name },
      conditions: [{ type: 'Healthy', status, message }],
    })
    const unknown = 'this server does not ask for it'
    return [
      health('scheduler', 'Unknown', unknown),
      health('controller-manager', 'Unknown', unknown),
      failure ? health('etcd-0', 'False', failure.message) : health('etcd-0', 'True', 'ok'),
    ]
  }
}
