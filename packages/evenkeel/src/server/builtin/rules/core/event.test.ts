import { expect, test } from 'vitest'
import { write } from '../writes.fixture.ts'
import { cases } from './event.fixture.ts'
import { eventRules, strictEventRules } from './event.ts'
import { coreToEvents } from './event-forms.ts'

for (const each of cases) {
  test(`eventRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}

test('eventRules keep events for an hour', () => {
  expect([eventRules.ttlMs, strictEventRules.ttlMs]).toEqual([3_600_000, 3_600_000])
})

test('eventRules select both forms by the same fields', () => {
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {},
    involvedObject: { kind: 'Pod', name: 'p', uid: 'u' },
    reason: 'r',
    type: 'Normal',
    reportingComponent: 'c',
  }
  for (const form of [event, coreToEvents(event)]) {
    expect(eventRules.fields?.['involvedObject.name']?.(form)).toBe('p')
    expect(eventRules.fields?.['source']?.(form)).toBe('c')
    expect(strictEventRules.fields?.['regarding.uid']?.(form)).toBe('u')
    expect(strictEventRules.fields?.['reportingController']?.(form)).toBe('c')
  }
})
