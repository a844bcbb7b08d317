/**
 * Times of `process-compose.yaml`: a cron expression, or an interval that a cron expression can say.
 *
 *   interval: 30m    every 30 minutes of the hour
 *   interval: 45m    an error: 45 does not divide an hour
 */
import { flagOf, numberOf, secondsOf, textOf } from './field.ts'
import type { YamlValue } from './yaml-value.ts'

export function cronOf(value: YamlValue): { readonly schedule: string; readonly timeZone?: string | undefined } {
  const cron = textOf(value.take('cron'))
  const interval = value.take('interval')
  const timeZone = textOf(value.take('timezone'))
  const first = value.take('run_on_start')
  if (first && flagOf(first) === true) first.warn('not supported: it runs at its times only')
  const most = value.take('max_concurrent')
  if ((numberOf(most, { least: 1 }) ?? 1) > 1) most?.warn('not supported: a run that is due waits for the one before')
  for (const field of value.rest()) field.warn('not supported; it is ignored')
  const schedule = cron ?? (interval && cronOfInterval(interval))
  if (cron === undefined && !interval) value.error('has no cron and no interval: write cron: "0 2 * * *"')
  return { schedule: schedule ?? '', ...(timeZone !== undefined && { timeZone }) }
}

function cronOfInterval(value: YamlValue): string | undefined {
  const seconds = secondsOf(value)
  if (seconds === undefined) return undefined
  const [minutes, hours] = [seconds / 60, seconds / 3600]
  if (Number.isInteger(minutes) && minutes >= 1 && minutes < 60 && 60 % minutes === 0)
    return minutes === 1 ? '* * * * *' : `*/${minutes} * * * *`
  if (Number.isInteger(hours) && hours >= 1 && hours < 24 && 24 % hours === 0)
    return hours === 1 ? '0 * * * *' : `0 */${hours} * * *`
  if (hours === 24) return '0 0 * * *'
  value.error('no cron expression says this: write minutes that divide an hour, hours that divide a day, or cron')
  return undefined
}
