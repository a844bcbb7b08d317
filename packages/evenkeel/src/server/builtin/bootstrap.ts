/**
 * What must be there before anybody asks: four namespaces, the Service that names the server itself, and the roles that
 * every cluster has.
 *
 * Runs at every start and makes only what is missing; two servers on one store may run it at the same time.
 */
import { isAlreadyExists } from '#api'
import type { ServerContext, ResourceRef } from '../call.ts'
import { installDefaultRoles } from '../permission/defaults/install-defaults.ts'
import { getStored } from '../persist.ts'
import type { ObjectDraft } from '../resources/resource.ts'
import { createObject } from '../walks/create.ts'
import { Warnings } from '../answers/warnings.ts'

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

/** Makes what is missing. */
export async function bootstrap(server: ServerContext, { port }: { port: number }): Promise<void> {
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
          clusterIP: '10.96.0.1',
          clusterIPs: ['10.96.0.1'],
          ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
        },
      },
    },
    server,
  )
  await installDefaultRoles(server)
}

interface BootstrapObject {
  readonly plural: string
  readonly name: string
  readonly namespace: string
  readonly rest: object
}

async function ensure({ plural, name, namespace, rest }: BootstrapObject, server: ServerContext): Promise<void> {
  const resource = server.registry.find('', 'v1', plural)
  if (resource === undefined) return
  const target: ResourceRef = { resource, namespace, name }
  if (await getStored(name, { server, target })) return
  const draft = (): ObjectDraft => ({
    apiVersion: 'v1',
    kind: resource.kind,
    metadata: { name },
    ...structuredClone(rest),
  })
  try {
    await createObject(draft, { call: { warnings: new Warnings() }, target, server, dryRun: false })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
