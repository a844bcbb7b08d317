/**
 * Events, which exist twice: in the core group, and in a group of their own with other names for the same fields.
 */
import { column, columnsOf, nameColumn, wideColumn } from '../column.ts'
import type { TableColumns } from '../columns.ts'
import type { FieldReader } from '../view.ts'

/** What the fields are called in a group. */
interface EventFields {
  readonly about: string
  readonly message: string
  readonly first: string
  readonly last: string
  readonly count: string
  readonly source: string
  readonly reporter: string
}

export const eventColumnsByKind: Readonly<Record<string, TableColumns>> = {
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

function eventColumns(fields: EventFields): TableColumns {
  return columnsOf(
    column('Last Seen', 'How long ago it was seen last.', (o, nowMs) => lastSeen(o, fields, nowMs)),
    column('Type', 'Whether it is a warning.', (o) => o.text('type')),
    column('Reason', 'Why it was written, in one word.', (o) => o.text('reason')),
    column('Object', 'What it is about.', (o) => target(o.at(fields.about))),
    wideColumn(column('Subobject', 'Which part it is about.', (o) => o.text(fields.about, 'fieldPath'))),
    wideColumn(column('Source', 'Who wrote it.', (o) => source(o, fields))),
    column('Message', 'What happened.', (o) => o.text(fields.message).trim()),
    wideColumn(column('First Seen', 'How long ago it was seen first.', (o, nowMs) => firstSeen(o, fields, nowMs))),
    wideColumn(
      column('Count', 'How often it was seen.', (o) =>
        o.has('series') ? o.number('series', 'count') : o.number(fields.count) || 1,
      ),
    ),
    wideColumn(nameColumn),
  )
}

function firstSeen(event: FieldReader, { first }: EventFields, nowMs: number): string {
  const seen = event.age(nowMs, first)
  return seen === '<unknown>' ? event.age(nowMs, 'eventTime') : seen
}

function lastSeen(event: FieldReader, fields: EventFields, nowMs: number): string {
  if (event.has('series')) return event.age(nowMs, 'series', 'lastObservedTime')
  const seen = event.age(nowMs, fields.last)
  return seen === '<unknown>' ? firstSeen(event, fields, nowMs) : seen
}

function target(about: FieldReader): string {
  const kind = about.text('kind').toLowerCase()
  return about.text('name') === '' ? kind : `${kind}/${about.text('name')}`
}

function source(event: FieldReader, fields: EventFields): string {
  const component = event.text(fields.source, 'component') || event.text(fields.reporter)
  const instance = event.text(fields.source, 'host') || event.text('reportingInstance')
  return instance === '' ? component : `${component}, ${instance}`
}
