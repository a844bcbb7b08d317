/**
 * The times of a certificate, which Node gives in words.
 */
import type { X509Certificate } from 'node:crypto'
import { parseTime } from '#api'

/** From when to when a certificate is good, in milliseconds since 1970. */
export function validityOf({ validFrom, validTo }: X509Certificate): {
  readonly fromMs: number
  readonly toMs: number
} {
  return { fromMs: certificateTime(validFrom), toMs: certificateTime(validTo) }
}

/** `Dec 30 00:00:00 2035 GMT` in milliseconds since 1970. */
function certificateTime(text: string): number {
  const [, month = '', day = '', time = '', year = ''] = /^(\w{3}) +(\d+) ([\d:]{8}) (\d{4}) GMT$/.exec(text) ?? []
  const number = 'JanFebMarAprMayJunJulAugSepOctNovDec'.indexOf(month) / 3 + 1
  return parseTime(`${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}T${time}Z`) ?? Number.NaN
}
