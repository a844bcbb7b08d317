/**
 * The `date` header, formatted once a second.
 */
import { formatTime } from '#api'
import type { Clock } from '#base'

const weekdays = ['Thu', 'Fri', 'Sat', 'Sun', 'Mon', 'Tue', 'Wed']
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The time of the clock in the format of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT`. */
export function httpDates(clock: Clock): () => string {
  let second = Number.NaN
  let text = ''
  return () => {
    const now = Math.floor(clock.now() / 1000)
    if (now !== second) {
      second = now
      text = formatHttpDate(now)
    }
    return text
  }
}

function formatHttpDate(epochSeconds: number): string {
  const [date = '', time = ''] = formatTime(epochSeconds * 1000)
    .slice(0, -1)
    .split('T')
  const [year = '', month = '', day = ''] = date.split('-')
  const weekday = weekdays[((Math.floor(epochSeconds / 86_400) % 7) + 7) % 7] ?? ''
  return `${weekday}, ${day} ${months[Number(month) - 1] ?? ''} ${year} ${time} GMT`
}
