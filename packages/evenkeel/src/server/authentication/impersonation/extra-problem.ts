/**
 * What is wrong with an extra value that somebody wants to have in a narrow way of impersonation.
 */
import { checkDnsSubdomain } from '#api'

const pathText = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/

/** Keys are `domain/path` in lower case; neither key nor value is empty. */
export function extraProblem(key: string, value: string): { problem?: string } {
  if (key === '') return { problem: 'impersonating the empty string key in extra is not allowed' }
  const at = key.indexOf('/')
  const [domain, path] = [key.slice(0, Math.max(at, 0)), key.slice(at + 1)]
  if (at <= 0 || checkDnsSubdomain(domain).length > 0 || !pathText.test(path))
    return {
      problem: `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${JSON.stringify(key)}: must be a domain-prefixed path (such as "acme.io/foo")`,
    }
  if (key !== key.toLowerCase())
    return { problem: `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}` }
  return value === '' ? { problem: 'impersonating the empty string value in extra is not allowed' } : {}
}
