/**
 * Writes of Event objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newEvent = { apiVersion: 'v1', kind: 'Event', metadata: { name: 'a', namespace: 'ns' } }
const newStrictEvent = { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'a', namespace: 'ns' } }
const storedStrictEvent = { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'a', namespace: 'ns', resourceVersion: '1' } }

export const cases: readonly Case[] = [
  { name: 'Event ok', object: { ...newEvent, involvedObject: { namespace: 'ns' }, reason: 'x' }, errors: [] },
  { name: 'Event mismatch', object: { ...newEvent, involvedObject: { namespace: 'other' } }, errors: [
    'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
  ] },
  { name: 'Event cluster in ns', object: { ...newEvent, involvedObject: {} }, errors: [
    'involvedObject.namespace: Invalid value: "": does not match event.namespace',
  ] },
  { name: 'Event cluster in default', object: { apiVersion: 'v1', kind: 'Event', metadata: { name: 'a', namespace: 'default' }, involvedObject: {} }, errors: [] },
  { name: 'Event new', object: { ...newEvent, involvedObject: { namespace: 'other' }, eventTime: '2026-01-01T00:00:00.000000Z' }, errors: [
    'action: Required value',
    'reason: Required value',
    'reportingComponent: Invalid value: "": name part must be non-empty',
    'reportingComponent: Invalid value: "": name part must consist of alphanumeric characters, \'-\', \'_\' or \'.\', and must start and end with an al',
    'reportingComponent: Required value',
    'reportingInstance: Required value',
  ] },
  { name: 'Event new long', object: { ...newEvent, involvedObject: { namespace: 'ns' }, eventTime: '2026-01-01T00:00:00.000000Z', reportingComponent: 'a b', reportingInstance: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', action: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', reason: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', message: 'éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé' }, errors: [
    'action: Invalid value: "": can have at most 128 characters',
    'message: Invalid value: "": can have at most 1024 characters',
    'reason: Invalid value: "": can have at most 128 characters',
    'reportingComponent: Invalid value: "a b": name part must consist of alphanumeric characters, \'-\', \'_\' or \'.\', and must start and end with an',
    'reportingInstance: Invalid value: "": can have at most 128 characters',
  ] },
  { name: 'Event new kube-system', object: { apiVersion: 'v1', kind: 'Event', metadata: { name: 'a', namespace: 'kube-system' }, involvedObject: {}, eventTime: '2026-01-01T00:00:00.000000Z', reportingComponent: 'a', reportingInstance: 'x', action: 'x', reason: 'x' }, errors: [] },
  { name: 'Event weird name', object: { apiVersion: 'v1', kind: 'Event', metadata: { name: 'A_b.!', namespace: 'ns' }, involvedObject: { namespace: 'ns' } }, errors: [] },
  { name: 'Event ok', object: { ...newStrictEvent, regarding: { kind: 'Pod', namespace: 'ns', name: 'p' }, eventTime: '2026-01-01T00:00:00.000000Z', reportingController: 'x/y', reportingInstance: 'i', action: 'a', reason: 'r', type: 'Normal', note: 'n' }, errors: [] },
  { name: 'Event none', object: newStrictEvent, errors: [
    'eventTime: Required value',
    'involvedObject.namespace: Invalid value: "": does not match event.namespace',
    'type: Invalid value: "": has invalid value: ',
  ] },
  { name: 'Event deprecated', object: { ...newStrictEvent, regarding: { kind: 'Pod', namespace: 'ns', name: 'p' }, eventTime: '2026-01-01T00:00:00.000000Z', reportingController: 'x/y', reportingInstance: 'i', action: 'a', reason: 'r', type: 'Bad', note: 'n', deprecatedCount: 1, deprecatedFirstTimestamp: '2026-01-01T00:00:00Z', deprecatedLastTimestamp: '2026-01-01T00:00:00Z', deprecatedSource: { host: 'h' } }, errors: [
    'count: Invalid value: "": needs to be unset',
    'firstTimestamp: Invalid value: "": needs to be unset',
    'lastTimestamp: Invalid value: "": needs to be unset',
    'source: Invalid value: "": needs to be unset',
    'type: Invalid value: "": has invalid value: Bad',
  ] },
  { name: 'Event series', object: { ...newStrictEvent, regarding: { kind: 'Pod', namespace: 'ns', name: 'p' }, eventTime: '2026-01-01T00:00:00.000000Z', reportingController: 'x/y', reportingInstance: 'i', action: 'a', reason: 'r', type: 'Normal', note: 'n', series: { count: 1 } }, errors: [
    'series.count: Invalid value: "": should be at least 2',
    'series.lastObservedTime: Required value',
  ] },
  { name: 'Event update', object: { ...storedStrictEvent, regarding: { kind: 'Pod', namespace: 'ns', name: 'p' }, eventTime: '2026-01-01T00:00:00.000000Z', reportingController: 'q/q', reportingInstance: 'i', action: 'b', reason: 'q', type: 'Warning', note: 'z', series: { count: 1, lastObservedTime: null } }, old: { ...storedStrictEvent, regarding: { kind: 'Pod', namespace: 'ns', name: 'p' }, eventTime: '2026-01-01T00:00:00.000000Z', reportingController: 'x/y', reportingInstance: 'i', action: 'a', reason: 'r', type: 'Normal', note: 'n' }, errors: [
    'action: Invalid value: "b": field is immutable',
    'message: Invalid value: "z": field is immutable',
    'reason: Invalid value: "q": field is immutable',
    'reportingController: Invalid value: "q/q": field is immutable',
    'series.count: Invalid value: "": should be at least 2',
    'series.lastObservedTime: Required value',
    'type: Invalid value: "Warning": field is immutable',
  ] },
  { name: 'Event update time', object: { ...storedStrictEvent, regarding: { kind: 'Pod', namespace: 'ns', name: 'p' }, eventTime: '2026-01-01T00:00:01.000000Z', reportingController: 'x/y', reportingInstance: 'i', action: 'a', reason: 'r', type: 'Normal', note: 'n' }, old: { ...storedStrictEvent, regarding: { kind: 'Pod', namespace: 'ns', name: 'p' }, eventTime: '2026-01-01T00:00:00.000000Z', reportingController: 'x/y', reportingInstance: 'i', action: 'a', reason: 'r', type: 'Normal', note: 'n' }, errors: [
    'eventTime: Invalid value: "2026-01-01T00:00:01.000000Z": field is immutable',
  ] },
  { name: 'Event update series', object: { ...storedStrictEvent, regarding: { kind: 'Pod', namespace: 'ns', name: 'p' }, eventTime: '2026-01-01T00:00:00.000000Z', reportingController: 'x/y', reportingInstance: 'i', action: 'a', reason: 'r', type: 'Normal', note: 'n', series: { count: 3, lastObservedTime: '2026-01-01T00:00:00.000000Z' } }, old: { ...storedStrictEvent, regarding: { kind: 'Pod', namespace: 'ns', name: 'p' }, eventTime: '2026-01-01T00:00:00.000000Z', reportingController: 'x/y', reportingInstance: 'i', action: 'a', reason: 'r', type: 'Normal', note: 'n' }, errors: [] },
]
