import { expect, test } from 'vitest'
import { coreToEvents } from '../conversion.ts'
import { write } from '../writes.fixture.ts'
import { cases } from './event.fixture.ts'
import { eventStrategy, strictEventStrategy } from './event.ts'

for (const each of cases) {
  test(`eventRules judge as Kubernetes does: ${each.name}`, () => {
    expect(write(each).errors).toEqual(each.errors)
  })
}

test('eventRules keep events for an hour', () => {
  expect([eventStrategy.ttlMs, strictEventStrategy.ttlMs]).toEqual([3_600_000, 3_600_000])
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
    expect(eventStrategy.selectableFields?.['involvedObject.name']?.(form)).toBe('p')
    expect(eventStrategy.selectableFields?.['source']?.(form)).toBe('c')
    expect(strictEventStrategy.selectableFields?.['regarding.uid']?.(form)).toBe('u')
    expect(strictEventStrategy.selectableFields?.['reportingController']?.(form)).toBe('c')
  }
})
