import { expect, test } from 'vitest'
import { isApiError } from '#api'
import { readLogOptions } from './log-options.ts'

function read(text: string, sources?: readonly string[]): unknown {
  try {
    return readLogOptions(new URLSearchParams(text), sources && { sources })
  } catch (error) {
    return isApiError(error) ? [error.code, error.message] : error
  }
}

const none = { follow: false, timestamps: false, previous: false }

test.each<[string, object]>([
  ['', none],
  ['follow', { ...none, follow: true }],
  ['follow=true&timestamps=yes&previous=1', { follow: true, timestamps: true, previous: true }],
  ['follow=False&timestamps=0', none],
  ['tailLines=0&limitBytes=1', { ...none, tailLines: 0, limitBytes: 1 }],
  ['sinceSeconds=30', { ...none, sinceSeconds: 30 }],
  ['sinceTime=1970-01-01T00:00:01.5Z', { ...none, sinceTimeMs: 1500 }],
  ['sinceTime=', none],
  ['run=2&positions&after=2:14', { ...none, run: 2, positions: true, after: '2:14' }],
  ['positions=false&after=', none],
  ['source=stderr&unknown=1', { ...none, source: 'stderr' }],
])('readLogOptions reads %j as kube-apiserver does', (text, expected) => {
  expect(read(text)).toEqual(expected)
})

test.each<[string, number, string]>([
  ['tailLines=many', 400, 'strconv.ParseInt: parsing "many": invalid syntax'],
  ['tailLines=', 400, 'strconv.ParseInt: parsing "": invalid syntax'],
  ['limitBytes=99999999999999999999', 400, 'value out of range'],
  ['sinceTime=yesterday', 400, 'sinceTime: "yesterday" is not a time of RFC 3339'],
  ['tailLines=-1', 422, 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
  ['run=0', 422, 'run: Invalid value: 0: must be greater than 0'],
  ['limitBytes=0', 422, 'limitBytes: Invalid value: 0: must be greater than 0'],
  ['sinceSeconds=0', 422, 'sinceSeconds: Invalid value: 0: must be greater than 0'],
  [
    'sinceSeconds=1&sinceTime=2030-01-01T00:00:00Z',
    422,
    'at most one of `sinceTime` or `sinceSeconds` may be specified',
  ],
])('readLogOptions refuses %j with %i', (text, code, message) => {
  expect(read(text)).toEqual([code, expect.stringContaining(message)])
})

test('readLogOptions refuses a source that the handler does not have', () => {
  expect(read('source=x', ['stdout', 'stderr'])).toEqual([
    422,
    expect.stringContaining('source: Unsupported value: "x": supported values: "stdout", "stderr"'),
  ])
})
