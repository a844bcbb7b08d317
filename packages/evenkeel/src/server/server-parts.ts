/**
 * The parts of a server that also a thread for large writes builds: what all stages are built on, and admission.
 */
import { defaultCluster } from '#api'
import { silentLogger, SystemClock, SystemRandom, type Clock, type Logger, type Random } from '#base'
import { columnsFor, defaultServiceRange, makeCatalog, strategyFor } from '@evenkeel/builtins'
import { openMemoryStore, type Store } from '#store'
import { chainAdmission } from './admission/admission.ts'
import { admissionPlugins } from './admission/plugins.ts'
import type { WebhookMetrics } from './admission/webhook-metrics.ts'
import { Admission } from './admission/write-admission.ts'
import { ApiServices } from './aggregation/api-services.ts'
import type { AuthorizerChain } from './authz/authorizer.ts'
import type { RbacAuthorizer } from './authz/rbac.ts'
import { CustomResources } from './extensions/custom-resources.ts'
import { Informers } from './informers.ts'
import type { CoreObjects } from './registry/core-objects.ts'
import { Registry } from './registry/registry.ts'
import { ServiceAllocations } from './registry/service-allocations.ts'
import type { ServerOptions } from './server-options.ts'
import { Storage } from './storage/storage.ts'

/** The parts that all stages are built on. */
export interface ServerBase {
  readonly store: Store
  readonly storage: Storage
  readonly registry: Registry
  readonly informers: Informers
  readonly apis: ApiServices
  readonly allocations: ServiceAllocations
  readonly customResources: CustomResources
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly stop: AbortController
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

export function makeBase({
  clock = new SystemClock(),
  random = new SystemRandom(),
  log = silentLogger,
  store = openMemoryStore({ clock }),
  serviceClusterIpRanges = [defaultServiceRange],
  customResources: customOptions = [],
}: ServerOptions): ServerBase {
  const registry = new Registry(makeCatalog({ strategyFor, columnsFor }))
  const informers = new Informers({ store, registry, clock, log, cluster: defaultCluster })
  const apis = new ApiServices(informers)
  const storage = new Storage(store, { clock, cluster: defaultCluster })
  const services = { storage, registry, informers, clock, random }
  const allocations = new ServiceAllocations(services, serviceClusterIpRanges)
  const customResources = new CustomResources(customOptions)
  const stop = new AbortController()
  return { ...services, store, apis, allocations, customResources, log, stop, stopping: stop.signal }
}

/** What admission needs beside the base. */
interface AdmissionServices {
  readonly rbac: RbacAuthorizer
  readonly authorizer: AuthorizerChain
  readonly objects: CoreObjects
  readonly webhookMetrics: Pick<WebhookMetrics, 'count'>
}

export function makeAdmission(
  { admission: { hooks = [], ...choice } = {}, webhooks = {} }: ServerOptions,
  base: ServerBase,
  services: AdmissionServices,
): Admission {
  const options = { webhooks, metrics: services.webhookMetrics, hooks, ...choice }
  return new Admission(chainAdmission(admissionPlugins({ ...base, ...services }, options)))
}
