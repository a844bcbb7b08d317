/**
 * The parts of the server that aggregated APIs need, made with the first of them.
 */
import { assert, type Clock, type Logger } from '#base'
import type { CertificateKeyPair } from '#wire'
import type { FlowControl } from '../flowcontrol/flow-control.ts'
import type { UpdateHandler } from '../handlers/update.ts'
import type { Registry } from '../registry/registry.ts'
import type { Storage } from '../storage/storage.ts'
import type { WebhookOptions } from '../webhooks/client.ts'
import type { ApiServices } from './api-services.ts'
import { AvailabilityController } from './availability.ts'
import { BackendDocuments } from './backend-documents.ts'
import { Backends } from './backends.ts'
import { AggregationProxy } from './proxy.ts'
import { ServiceAddresses } from './service-address.ts'
import { StoredServices } from './stored-services.ts'

export interface AggregationServices {
  /** Resolves Services, as for webhooks. */
  readonly webhooks: WebhookOptions
  /** The client certificate of this proxy. Called on first use. */
  proxyClient(): CertificateKeyPair
  readonly storage: Storage
  readonly registry: Registry
  readonly apis: ApiServices
  readonly flowControl: FlowControl
  readonly updates: UpdateHandler
  readonly clock: Clock
  readonly log: Logger
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

export interface AggregationRuntime {
  readonly proxy: AggregationProxy
  readonly documents: BackendDocuments
}

/** Makes the parts and begins to check the aggregated servers. */
export function startAggregation(given: AggregationServices): AggregationRuntime {
  const services = new StoredServices(given)
  const addresses = new ServiceAddresses(services, given.webhooks)
  const backends = new Backends({ ...given, addresses })
  const documents = new BackendDocuments({ ...given, backends })
  const resource = given.registry.stored('apiregistration.k8s.io', 'apiservices')
  assert(resource, 'APIServices are built in')
  new AvailabilityController({ ...given, services, addresses, backends, documents, resource }).start()
  return { proxy: new AggregationProxy({ ...given, backends }), documents }
}
