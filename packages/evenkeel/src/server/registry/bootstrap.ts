/**
 * Objects that every cluster has: four namespaces, the Service of the API server, the default RBAC roles and bindings, and
 * the objects of the system (priority classes, flow control, APIServices).
 *
 * Runs at every start and creates only what is missing; several servers on one store may run it at the same time.
 */
import { isAlreadyExists } from '#api'
import type { Clock, Logger, Random } from '#base'
import { AddressRange, type ObjectDraft } from '@evenkeel/builtins'
import type { CreateHandler } from '../handlers/create.ts'
import type { Informers } from '../informers.ts'
import { Warnings, type ResourceRef } from '../request-context.ts'
import type { Storage } from '../storage/storage.ts'
import { installDefaultRoles } from './default-roles.ts'
import type { Registry } from './registry.ts'
import type { ServiceAllocations } from './service-allocations.ts'
import { installSystemObjects } from './system-objects.ts'

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

interface BootstrapServices {
  readonly storage: Storage
  readonly registry: Registry
  readonly creates: CreateHandler
  readonly informers: Informers
  readonly allocations: ServiceAllocations
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Creates missing objects. */
export async function bootstrap(server: BootstrapServices, { port }: { port: number }): Promise<void> {
  await Promise.all(namespaces.map((name) => ensure({ plural: 'namespaces', name, namespace: '', rest: {} }, server)))
  await ensure(
    {
      plural: 'services',
      name: 'kubernetes',
      namespace: 'default',
      rest: {
        metadata: {
          name: 'kubernetes',
          namespace: 'default',
          labels: { component: 'apiserver', provider: 'kubernetes' },
        },
        spec: {
          type: 'ClusterIP',
          clusterIP: firstAddress(server.allocations.ranges),
          ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
        },
      },
    },
    server,
  )
  await Promise.all([installDefaultRoles(server), installSystemObjects(server, server.allocations.ranges)])
}

/** The Service of the API server has the first address of the first range. */
function firstAddress([range = '']: readonly string[]): string {
  return AddressRange.parse(range)?.address(1n) ?? ''
}

interface BootstrapObject {
  readonly plural: string
  readonly name: string
  readonly namespace: string
  readonly rest: object
}

async function ensure({ plural, name, namespace, rest }: BootstrapObject, server: BootstrapServices): Promise<void> {
  const resource = server.registry.find('', 'v1', plural)
  if (resource === undefined) return
  const target: ResourceRef = { resource, namespace, name }
  if (await server.storage.get(name, target)) return
  const draft = (): ObjectDraft => ({
    apiVersion: 'v1',
    kind: resource.kind,
    metadata: { name },
    ...structuredClone(rest),
  })
  try {
    await server.creates.create(draft, { context: { warnings: new Warnings() }, target, dryRun: false })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
