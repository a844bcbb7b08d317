/**
 * Events, which exist twice: in the core group, and in a group of their own with other names for the same fields.
 */
import { column, columnsOf, name, wide } from '../column.ts'
import type { Columns } from '../columns.ts'
import type { View } from '../view.ts'

/** What the fields are called in a group. */
interface Fields {
  readonly about: string
  readonly message: string
  readonly first: string
  readonly last: string
  readonly count: string
  readonly source: string
  readonly reporter: string
}

export const eventKinds: Readonly<Record<string, Columns>> = {
  Event: eventColumns({
    about: 'involvedObject',
    message: 'message',
    first: 'firstTimestamp',
    last: 'lastTimestamp',
    count: 'count',
    source: 'source',
    reporter: 'reportingComponent',
  }),
  'Event.events.k8s.io': eventColumns({
    about: 'regarding',
    message: 'note',
    first: 'deprecatedFirstTimestamp',
    last: 'deprecatedLastTimestamp',
    count: 'deprecatedCount',
    source: 'deprecatedSource',
    reporter: 'reportingController',
  }),
}

function eventColumns(fields: Fields): Columns {
  return columnsOf(
    column('Last Seen', 'How long ago it was seen last.', (o, nowMs) => lastSeen(o, fields, nowMs)),
    column('Type', 'Whether it is a warning.', (o) => o.text('type')),
    column('Reason', 'Why it was written, in one word.', (o) => o.text('reason')),
    column('Object', 'What it is about.', (o) => target(o.at(fields.about))),
    wide(column('Subobject', 'Which part it is about.', (o) => o.text(fields.about, 'fieldPath'))),
    wide(column('Source', 'Who wrote it.', (o) => source(o, fields))),
    column('Message', 'What happened.', (o) => o.text(fields.message).trim()),
    wide(column('First Seen', 'How long ago it was seen first.', (o, nowMs) => firstSeen(o, fields, nowMs))),
    wide(
      column('Count', 'How often it was seen.', (o) =>
        o.has('series') ? o.number('series', 'count') : o.number(fields.count) || 1,
      ),
    ),
    wide(name),
  )
}

function firstSeen(event: View, { first }: Fields, nowMs: number): string {
  const seen = event.age(nowMs, first)
  return seen === '<unknown>' ? event.age(nowMs, 'eventTime') : seen
}

function lastSeen(event: View, fields: Fields, nowMs: number): string {
  if (event.has('series')) return event.age(nowMs, 'series', 'lastObservedTime')
  const seen = event.age(nowMs, fields.last)
  return seen === '<unknown>' ? firstSeen(event, fields, nowMs) : seen
}

function target(about: View): string {
  const kind = about.text('kind').toLowerCase()
  return about.text('name') === '' ? kind : `${kind}/${about.text('name')}`
}

function source(event: View, fields: Fields): string {
  const component = event.text(fields.source, 'component') || event.text(fields.reporter)
  const instance = event.text(fields.source, 'host') || event.text('reportingInstance')
  return instance === '' ? component : `${component}, ${instance}`
}
