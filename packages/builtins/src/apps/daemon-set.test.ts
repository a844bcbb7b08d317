import { expect, test } from 'vitest'
import type { JsonObject } from 'evenkeel/unstable/builtins'
import { write } from '../writes.fixture.ts'
import { cases } from './daemon-set.fixture.ts'

for (const each of cases) {
  test(`daemonSetRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}

test('daemonSetRules count template changes in an annotation that clients cannot set', () => {
  const make = (image: string, annotations = {}): JsonObject => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'a', annotations },
    spec: { template: { spec: { containers: [{ name: 'c', image }] } } },
  })
  const count = (object: { metadata: { annotations?: Readonly<Record<string, string>> } }): string | undefined =>
    object.metadata.annotations?.['deprecated.daemonset.template.generation']
  const old = write({ object: make('i') }).object
  expect(count(old)).toBe('1')
  expect(count(write({ object: make('i'), old: old }).object)).toBe('1')
  expect(
    count(
      write({
        object: make('j', { 'deprecated.daemonset.template.generation': '9' }),
        old: old,
      }).object,
    ),
  ).toBe('2')
})
