/**
 * The same controller written by hand on @kubernetes/client-node: two informers, a set of names, some workers.
 */
import { CoreV1Api, CustomObjectsApi, KubeConfig, makeInformer } from '@kubernetes/client-node'
import type { KubernetesListObject, KubernetesObject } from '@kubernetes/client-node'
import type { ChildrenJob } from './children.ts'
import { childrenEach } from './parents.ts'

interface ParentObject extends KubernetesObject {
  spec?: { text?: string }
  status?: { made?: number }
}

const {
  address: { url, token, caPem },
  concurrency,
  namespace,
} = JSON.parse(process.argv[2] ?? '') as ChildrenJob
const place = { group: 'bench.evenkeel.dev', version: 'v1', namespace, plural: 'benchparents' }
const config = new KubeConfig()
config.loadFromOptions({
  clusters: [
    {
      name: 'bench',
      server: url,
      ...(caPem === undefined ? { skipTLSVerify: true } : { caData: Buffer.from(caPem).toString('base64') }),
    },
  ],
  users: [{ name: 'bench', token }],
  contexts: [{ name: 'bench', cluster: 'bench', user: 'bench' }],
  currentContext: 'bench',
})
const core = config.makeApiClient(CoreV1Api)
const custom = config.makeApiClient(CustomObjectsApi)

process.stdout.write('begins\n')
const waiting = new Set<string>()
let wake = (): void => undefined
const add = (name: string): void => {
  waiting.add(name)
  wake()
}
const parents = makeInformer<ParentObject>(
  config,
  `/apis/${place.group}/${place.version}/namespaces/${namespace}/${place.plural}`,
  async () => (await custom.listNamespacedCustomObject(place)) as KubernetesListObject<ParentObject>,
)
const children = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
  core.listNamespacedConfigMap({ namespace }),
)
for (const type of ['add', 'update'] as const)
  parents.on(type, ({ metadata }) => {
    add(metadata?.name ?? '')
  })
for (const type of ['add', 'update', 'delete'] as const)
  children.on(type, ({ metadata }) => {
    for (const { name } of metadata?.ownerReferences ?? []) add(name)
  })
await children.start()
await parents.start()

async function reconcile(name: string): Promise<void> {
  const parent = parents.get(name, namespace)
  if (!parent?.metadata?.uid) return
  const owner = {
    apiVersion: 'bench.evenkeel.dev/v1',
    kind: 'BenchParent',
    name,
    uid: parent.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  }
  for (let at = 0; at < childrenEach; at++) {
    if (children.get(`${name}-${at}`, namespace)) continue
    await core
      .createNamespacedConfigMap({
        namespace,
        body: {
          metadata: { name: `${name}-${at}`, ownerReferences: [owner] },
          data: { text: parent.spec?.text ?? '' },
        },
      })
      .catch(ignoreConflict)
  }
  if (parent.status?.made !== childrenEach)
    await custom
      .replaceNamespacedCustomObjectStatus({
        ...place,
        name,
        body: { ...parent, apiVersion: owner.apiVersion, kind: owner.kind, status: { made: childrenEach } },
      })
      .catch(ignoreConflict)
}

/** The object exists already, or another write was faster: an event triggers the next reconcile. */
function ignoreConflict(error: unknown): void {
  if ((error as { code?: number }).code !== 409) throw error
}

async function work(): Promise<never> {
  for (;;) {
    const [name] = waiting
    if (name === undefined) {
      await new Promise<void>((resolve) => {
        const others = wake
        wake = () => {
          others()
          resolve()
        }
      })
      continue
    }
    waiting.delete(name)
    await reconcile(name)
  }
}

process.once('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify(process.cpuUsage())}\n`, () => {
    process.exit(0)
  })
})
await Promise.all(Array.from({ length: concurrency }, work))
