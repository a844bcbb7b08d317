import { expect, test } from 'vitest'
import { coreToEvents, eventsToCore } from './conversion.ts'

const core = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e' },
  involvedObject: { kind: 'Pod' },
  message: 'm',
  source: { component: 'c' },
  count: 2,
  firstTimestamp: 'f',
  lastTimestamp: 'l',
  reportingComponent: 'r',
  reason: 'why',
}
const events = {
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: 'e' },
  regarding: { kind: 'Pod' },
  note: 'm',
  deprecatedSource: { component: 'c' },
  deprecatedCount: 2,
  deprecatedFirstTimestamp: 'f',
  deprecatedLastTimestamp: 'l',
  reportingController: 'r',
  reason: 'why',
}

test('coreToEvents and eventsToCore rename, and are inverse', () => {
  expect(coreToEvents(core)).toEqual(events)
  expect(eventsToCore(events)).toEqual(core)
})

test('coreToEvents and eventsToCore leave their own form alone', () => {
  expect(eventsToCore(core)).toBe(core)
  expect(coreToEvents(events)).toBe(events)
})
