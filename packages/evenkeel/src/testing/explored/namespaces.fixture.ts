/**
 * What is explored of our own: the namespace controller, as the program of a world that does not play it.
 */
import type { Client } from '#client'
import type { ControllerDeclaration } from '#controller'
import { loadPlaneControllers } from '#plane'
import type { ExploreOptions } from '../explore.ts'
import type { UserStep, WorldView } from '../scenario.ts'

const shop = { name: 'shop' }

async function fill(user: Client): Promise<void> {
  await user.create({ apiVersion: 'v1', kind: 'Namespace', metadata: shop })
  await user.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'prices', namespace: 'shop' },
    data: { apple: '1' },
  } as never)
  await user.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'till', namespace: 'shop' } })
}

const steps: readonly UserStep[] = [
  { name: 'opens a shop', run: fill },
  { name: 'deletes the shop', run: (user) => user.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: shop }) },
]

/** Nothing is in a namespace that is gone, and none that is going stays. */
function expects(world: WorldView): string | undefined {
  const namespaces = world.list({ group: '', kind: 'Namespace' })
  const stuck = namespaces.find(
    ({ metadata }) => metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0,
  )
  if (stuck) return `the namespace ${stuck.metadata.name ?? ''} is being deleted and never goes`
  const names = new Set(namespaces.map(({ metadata }) => metadata.name))
  const lost = ['ConfigMap', 'Secret']
    .flatMap((kind) => world.list({ group: '', kind }))
    .find(({ metadata: { namespace } }) => !names.has(namespace))
  return lost && `${lost.kind} ${lost.metadata.name ?? ''} is in a namespace that is gone`
}

/** The program and the scenario. */
export async function namespacesSubject(): Promise<Pick<ExploreOptions, 'controllers' | 'scenario'>> {
  const { namespaceController } = await loadPlaneControllers()
  return {
    controllers: () => [namespaceController() as unknown as ControllerDeclaration],
    scenario: {
      name: 'namespaces',
      steps,
      clusterControllers: ['garbage'],
      expects,
      exceptions: [{ rule: 'ownership', because: 'emptying a namespace is deleting what others made' }],
    },
  }
}
