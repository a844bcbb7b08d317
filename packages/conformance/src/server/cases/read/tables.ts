/**
 * The columns and cells that users know from kubectl.
 */
import assert from 'node:assert/strict'
import { expectMatch, ok } from '../../expect.ts'
import { sample } from '../../samples.ts'
import type { ResourceName } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1'

interface Table {
  readonly columnDefinitions: readonly { readonly name: string }[]
  readonly rows: readonly { readonly cells: readonly unknown[] }[]
}

const age = /^\d+[smhdy]/

/** A resource, its columns, the fields sent in addition to the smallest object, and the cells after the name. */
const known: readonly (readonly [ResourceName, string, Readonly<Record<string, unknown>>, readonly unknown[]])[] = [
  [
    'pods',
    'Name Ready Status Restarts Age IP Node Nominated-Node Readiness-Gates',
    {},
    ['0/1', 'Pending', '0', age, '<none>', '<none>', '<none>', '<none>'],
  ],
  [
    'deployments',
    'Name Ready Up-to-date Available Age Containers Images Selector',
    { spec: { replicas: 2 } },
    ['0/2', 0, 0, age, 'main', 'judge:1', 'app=judge'],
  ],
  [
    'replicasets',
    'Name Desired Current Ready Age Containers Images Selector',
    {},
    [1, 0, 0, age, 'main', 'judge:1', 'app=judge'],
  ],
  ['statefulsets', 'Name Ready Age Containers Images', {}, ['0/1', age, 'main', 'judge:1']],
  [
    'daemonsets',
    'Name Desired Current Ready Up-to-date Available Node-Selector Age Containers Images Selector',
    {},
    [0, 0, 0, 0, 0, '<none>', age, 'main', 'judge:1', 'app=judge'],
  ],
  [
    'jobs',
    'Name Status Completions Duration Age Containers Images Selector',
    {},
    ['Running', '0/1', '', age, 'main', 'judge:1', /controller-uid=/],
  ],
  [
    'cronjobs',
    'Name Schedule Timezone Suspend Active Last-Schedule Age Containers Images Selector',
    {},
    ['0 0 1 1 *', '<none>', 'False', 0, '<none>', age, 'main', 'judge:1', '<none>'],
  ],
  [
    'services',
    'Name Type Cluster-IP External-IP Port(s) Age Selector',
    { spec: { clusterIP: 'None', selector: { a: 'b' } } },
    ['ClusterIP', 'None', '<none>', '80/TCP', age, 'a=b'],
  ],
  ['ingresses', 'Name Class Hosts Address Ports Age', {}, ['<none>', '*', '', '80', age]],
  ['configmaps', 'Name Data Age', { data: { a: '1', b: '2' } }, [2, age]],
  ['secrets', 'Name Type Data Age', { stringData: { a: '1' } }, ['Opaque', 1, age]],
  ['serviceaccounts', 'Name Age', {}, [age]],
  ['leases', 'Name Holder Age', { spec: { holderIdentity: 'h' } }, ['h', age]],
  ['namespaces', 'Name Status Age', {}, ['Active', age]],
  ['roles', 'Name Created-At', {}, [/Z$/]],
  ['rolebindings', 'Name Role Age Users Groups ServiceAccounts', {}, ['Role/judge', age, 'judge', '', '']],
  ['clusterroles', 'Name Created-At', {}, [/Z$/]],
  ['poddisruptionbudgets', 'Name Min-Available Max-Unavailable Allowed-Disruptions Age', {}, ['1', 'N/A', 0, age]],
  [
    'persistentvolumeclaims',
    'Name Status Volume Capacity Access-Modes StorageClass VolumeAttributesClass Age VolumeMode',
    {},
    ['Pending', '', '', '', '', '<unset>', age, 'Filesystem'],
  ],
  [
    'horizontalpodautoscalers',
    'Name Reference Targets MinPods MaxPods Replicas Age',
    {},
    ['Deployment/judge', 'cpu: <unknown>/80%', '1', 3, 0, age],
  ],
]

const builtins = known.map(([resource, columns, more, cells]): ServerCase => ({
  id: `server/tables/${resource}`,
  rule: `The Table of ${resource} has the columns ${columns} and matching cells.`,
  async run(place) {
    const name = place.unique('a')
    ok(await place.post(resource, sample(resource, name, more)), 201)
    const table = ok(await place.get(resource, name, { accept }), 200) as unknown as Table
    assert.equal(table.columnDefinitions.map((column) => column.name.replaceAll(' ', '-')).join(' '), columns)
    expectMatch(table.rows[0]?.cells, [name, ...cells])
  },
}))

const events: readonly ServerCase[] = [
  {
    id: 'server/tables/events',
    rule: 'The Table of events shows the time, the type, the object and the count.',
    async run(place) {
      ok(
        await place.post(
          'events',
          sample('events', 'a', {
            involvedObject: { namespace: place.namespace },
            count: 2,
            firstTimestamp: '2020-01-01T00:00:00Z',
            lastTimestamp: '2020-01-01T00:00:00Z',
          }),
        ),
      )
      const table = ok(await place.get('events', 'a', { accept }), 200) as unknown as Table
      assert.equal(
        table.columnDefinitions.map(({ name }) => name).join(' '),
        'Last Seen Type Reason Object Subobject Source Message First Seen Count Name',
      )
      expectMatch(table.rows[0]?.cells, [age, 'Normal', 'Judged', 'configmap/a', '', 'judge', 'm', age, 2, 'a'])
    },
  },
]

export const tableCases: readonly ServerCase[] = [...builtins, ...events]
