import { expect, test } from 'vitest'
import { readLogQuery } from './log-query.ts'

const none = { source: 'stdout', follow: false, timestamps: false, lineNumbers: false, skip: 0 }

test.each<[string, object]>([
  ['', none],
  ['source=', none],
  ['follow=true&source=system&timestamps=1', { ...none, follow: true, source: 'system', timestamps: true }],
  ['line_numbers=true&limit=5&skip=2', { ...none, lineNumbers: true, limit: 5, skip: 2 }],
  ['tail=1000000&skip=0', { ...none, tail: 1_000_000 }],
])('readLogQuery reads %j', (text, expected) => {
  expect(readLogQuery(new URLSearchParams(text))).toEqual(expected)
})

test.each<[string, string]>([
  ['source=stdin', 'source "stdin" must be one of stdout, stderr, startup_stdout, startup_stderr, system'],
  ['limit=0', 'limit "0" must be a whole number of at least 1'],
  ['limit=5&follow=true', 'limit cannot be used with follow'],
  ['tail=0', 'tail "0" must be a whole number of at least 1'],
  ['tail=1000001', 'tail 1000001 must be at most 1000000'],
  ['tail=5&skip=1', 'tail cannot be used with skip'],
  ['skip=-1', 'skip "-1" must be a whole number of at least 0'],
  ['tail=x&source=y', 'tail "x" must be a whole number of at least 1; source "y" must be one of'],
])('readLogQuery refuses %j', (text, message) => {
  expect(() => readLogQuery(new URLSearchParams(text))).toThrow(message)
})
