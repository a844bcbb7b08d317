import { expect, test } from 'vitest'
import { cronScheduleError } from './cron-job.ts'

test.each([
  '* * * * *',
  '@daily',
  '@every 1h30m',
  '*/5 1-3 1,2 jan mon',
  '0 0 ? * *',
  '10/5 * * * *',
  'TZ=UTC 1 2 3 4 5',
])('scheduleComplaint accepts %s', (schedule) => {
  expect(cronScheduleError(schedule)).toBeUndefined()
})

test.each([
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['5-3 * * * *', 'beginning of range (5) beyond end of range (3): 5-3'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['@foo', 'unrecognized descriptor: @foo'],
])('scheduleComplaint refuses %s', (schedule, complaint) => {
  expect(cronScheduleError(schedule)).toBe(complaint)
})
