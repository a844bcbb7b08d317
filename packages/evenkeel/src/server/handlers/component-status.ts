/**
 * ComponentStatuses, which every cluster has and no client needs any more: the scheduler, the controller manager and
 * the store. The server knows the store only; the others are programs of their own that it does not ask.
 */
import { notFound, type JsonObject } from '#api'
import type { Store } from '#store'
import type { WireResponse } from '#wire'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { negotiateResponse, replyDocument } from '../response.ts'
import { servedType } from '../storage/codec.ts'

/** Answers a read of a resource that has no stored objects. */
export function handleComponentStatus(
  context: RequestContext,
  { resource, name }: ResourceRef,
  store: Pick<Store, 'failure'>,
): Promise<WireResponse> {
  const components = componentsOf(store)
  const { apiVersion, kind } = servedType(resource)
  if (context.verb === 'get') {
    const found = components.find(({ metadata }) => metadata.name === name)
    if (!found) throw notFound({ group: resource.group, kind: resource.singular, name })
    const choice = negotiateResponse(context, resource, { answer: 'document' })
    return Promise.resolve(replyDocument(context, { kind, apiVersion, ...found }, { choice }))
  }
  if (context.verb !== 'list') throw notFound({ group: resource.group, kind: resource.plural, name })
  const choice = negotiateResponse(context, resource, { answer: 'document' })
  const document = { kind: resource.listKind, apiVersion, metadata: {}, items: components }
  return Promise.resolve(replyDocument(context, document, { choice }))
}

type Component = JsonObject & { readonly metadata: { readonly name: string } }

function componentsOf(store: Pick<Store, 'failure'>): Component[] {
  const failure = store.failure()
  const health = (name: string, status: string, message: string): Component => ({
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
