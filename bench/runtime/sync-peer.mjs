/**
 * One sync by the informer of @kubernetes/client-node, in a separate process.
 */
// @ts-check
import { CustomObjectsApi, KubeConfig, makeInformer } from '@kubernetes/client-node'
import { measureSync } from './sync-measure.mjs'

const { address, namespace, count } = JSON.parse(process.argv[2] ?? '')
const place = { group: 'bench.evenkeel.dev', version: 'v1', namespace, plural: 'benchobjects' }
const config = new KubeConfig()
config.loadFromOptions({
  clusters: [{ name: 'bench', server: address.url, caData: Buffer.from(address.caPem).toString('base64') }],
  users: [{ name: 'bench', token: address.token }],
  contexts: [{ name: 'bench', cluster: 'bench', user: 'bench' }],
  currentContext: 'bench',
})
const api = config.makeApiClient(CustomObjectsApi)
await api.listNamespacedCustomObject({ ...place, limit: 1 })

const informer = makeInformer(
  config,
  `/apis/${place.group}/${place.version}/namespaces/${namespace}/${place.plural}`,
  () => api.listNamespacedCustomObject(place),
)
await measureSync(
  () =>
    new Promise((resolve, reject) => {
      // It has no sync event: it is in sync when the handler has received every object.
      let received = 0
      informer.on('add', () => {
        if (++received === count) resolve(received)
      })
      informer.on('error', reject)
      informer.start().catch(reject)
    }),
)
await informer.stop()
process.exit(0)
