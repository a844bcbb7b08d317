import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { cases } from './stateful-set.fixture.ts'

for (const each of cases) {
  test(`statefulSetRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}

test('statefulSetRules complete a minimal set and its claims', () => {
  const { object } = write({
    object: {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'a' },
      spec: {
        volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: { resources: { requests: { storage: '1024Mi' } } } }],
      },
    },
  })
  expect(object['spec']).toMatchObject({
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    revisionHistoryLimit: 10,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    volumeClaimTemplates: [
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        status: { phase: 'Pending' },
        spec: { volumeMode: 'Filesystem', resources: { requests: { storage: '1Gi' } } },
      },
    ],
  })
})
