import { expect, test } from 'vitest'
import type { JsonObject } from 'evenkeel/unstable/builtins'
import { uid, write } from '../writes.fixture.ts'
import { cases } from './job.fixture.ts'

for (const each of cases) {
  test(`jobRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}

test('jobRules make a selector and labels from the uid, and defaults', () => {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
  const { object } = write({
    object: { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a' }, spec: { template } },
  })
  const labels = {
    'job-name': 'a',
    'batch.kubernetes.io/job-name': 'a',
    'controller-uid': uid,
    'batch.kubernetes.io/controller-uid': uid,
  }
  expect(object['spec']).toMatchObject({
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: 'TerminatingOrFailed',
    manualSelector: false,
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
    template: { metadata: { labels } },
  })
  expect(object.metadata.labels).toEqual(labels)
})

test('jobRules refuse another template, and let a suspended job be placed elsewhere', () => {
  const { object } = write({
    object: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'a' },
      spec: { suspend: true, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
    },
  })
  const old = object as unknown as JsonObject
  const changed = (pod: object, suspend: boolean): readonly string[] => {
    const spec = old['spec'] as { template: { spec: object } }
    const stored = { ...old, spec: { ...spec, suspend } } as unknown as JsonObject
    return write({
      old: stored,
      object: {
        ...stored,
        spec: { ...spec, suspend, template: { ...spec.template, spec: { ...spec.template.spec, ...pod } } },
      },
    }).errors
  }
  expect(changed({ nodeSelector: { a: 'b' } }, true)).toEqual([])
  expect(changed({ nodeSelector: { a: 'b' } }, false).join()).toMatch(/^spec.template: Invalid value/)
  expect(changed({ containers: [{ name: 'c', image: 'j' }] }, true).join()).toMatch(/^spec.template: Invalid value/)
})
