/**
 * The handlers of one server, built once from its stages: one per verb, and one per role of a subresource.
 */
import type { Clock, Logger, Random } from '#base'
import type { SubresourceRole } from '@evenkeel/builtins'
import type { WireResponse } from '#wire'
import { NamespaceLifecycle } from '../admission/namespace-lifecycle.ts'
import type { Admission } from '../admission/write-admission.ts'
import type { Authentication } from '../auth/authentication.ts'
import type { AuthorizerChain } from '../authz/authorizer.ts'
import { ConnectSubresources } from '../extensions/connects.ts'
import type { CustomResources } from '../extensions/custom-resources.ts'
import { StreamSubresources } from '../extensions/streams.ts'
import type { FlowControl } from '../flowcontrol/flow-control.ts'
import type { CompressedRunCache } from '../list/compressed-list.ts'
import type { CoreObjects } from '../registry/core-objects.ts'
import { FieldManager } from '../registry/field-manager.ts'
import type { Registry } from '../registry/registry.ts'
import type { ServiceAllocations } from '../registry/service-allocations.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import type { Storage } from '../storage/storage.ts'
import { ActionRequestHandler, type ActionHandlers } from './actions.ts'
import { ApplyHandler } from './apply.ts'
import { CreateHandler } from './create.ts'
import { DeleteCollectionHandler } from './delete-collection.ts'
import { DeleteHandler } from './delete.ts'
import { ComponentStatusHandler } from './component-status.ts'
import { GetHandler } from './get.ts'
import { ListHandler } from './list.ts'
import { PatchHandler } from './patch.ts'
import { PodConnections } from './pod-connect.ts'
import { PodSubresources } from './pod-subresources.ts'
import { ReviewHandler } from './reviews.ts'
import { ScaleHandler } from './scale.ts'
import { TokenRequestHandler } from './token-request.ts'
import { UpdateHandler } from './update.ts'
import { WatchHandler } from './watch.ts'

interface HandlerServices {
  readonly storage: Storage
  readonly registry: Registry
  readonly objects: CoreObjects
  readonly authentication: Authentication
  readonly authorizer: AuthorizerChain
  readonly admission: Admission
  readonly allocations: ServiceAllocations
  readonly flowControl: FlowControl
  readonly compressedRuns: CompressedRunCache
  readonly actionHandlers: ActionHandlers
  readonly customResources: CustomResources
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

type Handle = (context: RequestContext, target: ResourceRef) => Promise<WireResponse>

export interface ResourceHandlers {
  readonly gets: GetHandler
  readonly componentStatuses: ComponentStatusHandler
  readonly lists: ListHandler
  readonly watches: WatchHandler
  readonly creates: CreateHandler
  readonly updates: UpdateHandler
  readonly patches: PatchHandler
  readonly deletes: DeleteHandler
  readonly deleteCollections: DeleteCollectionHandler
  readonly reviews: ReviewHandler
  /** POST of a Binding to `bindings`. */
  readonly bindings: Handle
  readonly subresources: Readonly<Record<SubresourceRole, Handle>>
}

export type WriteHandlers = Pick<ResourceHandlers, 'creates' | 'updates' | 'patches'>

type WriteServices = Pick<
  HandlerServices,
  'storage' | 'registry' | 'authorizer' | 'admission' | 'allocations' | 'clock' | 'random'
>

export function makeWriteHandlers(services: WriteServices): WriteHandlers {
  const { storage, registry, clock } = services
  const fieldManager = new FieldManager({ clock, registry })
  const creates = new CreateHandler({ ...services, fieldManager, namespaces: new NamespaceLifecycle(storage) })
  const updates = new UpdateHandler({ ...services, fieldManager, creates })
  const patches = new PatchHandler({ updates, applies: new ApplyHandler({ updates, fieldManager, clock }), clock })
  return { creates, updates, patches }
}

export function makeResourceHandlers(services: HandlerServices): ResourceHandlers {
  const { authentication, authorizer } = services
  const gets = new GetHandler(services)
  const lists = new ListHandler(services)
  const deletes = new DeleteHandler(services)
  const writers = { ...makeWriteHandlers(services), deletes, gets }
  const pods = new PodSubresources({ ...services, ...writers })
  return {
    ...writers,
    componentStatuses: new ComponentStatusHandler(services),
    lists,
    watches: new WatchHandler({ ...services, lists }),
    deleteCollections: new DeleteCollectionHandler({ lists, deletes }),
    reviews: new ReviewHandler({ ...services, authorizer, tokens: authentication.tokens }),
    bindings: (context, target) => pods.bindNamed(context, target),
    subresources: makeSubresources(services, { ...writers, pods }),
  }
}

/** The table that serves subresources: every role has one row. */
function makeSubresources(
  services: HandlerServices,
  writers: Pick<ResourceHandlers, 'creates' | 'updates' | 'deletes' | 'patches' | 'gets'> & { pods: PodSubresources },
): Readonly<Record<SubresourceRole, Handle>> {
  const { gets, patches, updates, pods } = writers
  const scales = new ScaleHandler({ ...services, updates })
  const tokens = new TokenRequestHandler({ ...services, policy: services.authentication.serviceAccounts })
  const actions = new ActionRequestHandler({ ...services, ...writers, handlers: services.actionHandlers })
  const streams = new StreamSubresources(services)
  const connections = new PodConnections({ ...services, streams })
  const connects = new ConnectSubresources(services)
  return {
    part: (context, target) => {
      if (context.verb === 'get') return gets.handle(context, target)
      return context.verb === 'patch' ? patches.handle(context, target) : updates.handle(context, target)
    },
    scale: (context, target) => scales.handle(context, target),
    eviction: (context, target) => pods.evict(context, target),
    binding: (context, target) => pods.bind(context, target),
    token: (context, target) => tokens.handle(context, target),
    action: (context, target) => actions.handle(context, target),
    stream: (context, target) => streams.handle(context, target),
    connect: (context, target) => connects.handle(context, target),
    unavailable: (context, target) => connections.handle(context, target),
  }
}
