/**
 * Where a webhook is: a URL, or a service inside the cluster. Exactly one of the two.
 */
import { checkDnsSubdomain, fieldError } from '#api'
import type { FieldError, FieldPath, JsonObject } from '#api'
import { isPort, requireText } from '../checks.ts'
import { numberIn, optionalObjectIn, textIn } from '../reading.ts'

const form = '; desired format: https://host[/path]'

export function validateClientConfig(config: JsonObject, path: FieldPath): FieldError[] {
  const [url, service] = [config['url'], optionalObjectIn(config, 'service')]
  if ((url === undefined) === (service === undefined))
    return [fieldError.required(path, 'exactly one of url or service is required')]
  return service === undefined
    ? validateUrl(String(url), path.child('url'))
    : validateService(service, path.child('service'))
}

function validateUrl(url: string, path: FieldPath): FieldError[] {
  const match = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/.exec(url)
  const [, scheme = '', authority = '', query = '', fragment = ''] = match ?? []
  const at = authority.lastIndexOf('@')
  const [user, host] = [authority.slice(0, Math.max(at, 0)), authority.slice(at + 1)]
  const errors: FieldError[] = []
  if (scheme.toLowerCase() !== 'https')
    errors.push(fieldError.invalid(path, scheme, `'https' is the only allowed URL scheme${form}`))
  if (host === '') errors.push(fieldError.invalid(path, host, `host must be specified${form}`))
  if (at >= 0) errors.push(fieldError.invalid(path, user, 'user information is not permitted in the URL'))
  if (fragment !== '') errors.push(fieldError.invalid(path, fragment, 'fragments are not permitted in the URL'))
  if (query !== '') errors.push(fieldError.invalid(path, query, 'query parameters are not permitted in the URL'))
  return errors
}

function validateService(service: JsonObject, path: FieldPath): FieldError[] {
  const port = numberIn(service, 'port') ?? 0
  const errors = [
    ...requireText(textIn(service, 'namespace'), path.child('name')),
    ...requireText(textIn(service, 'name'), path.child('namespace')),
  ]
  if (!isPort(port))
    errors.push(
      fieldError.invalid(path.child('port'), port, 'port is not valid: must be between 1 and 65535, inclusive'),
    )
  return [...errors, ...validatePath(textIn(service, 'path'), path.child('path'))]
}

function validatePath(urlPath: string, path: FieldPath): FieldError[] {
  if (urlPath === '' || urlPath === '/') return []
  if (urlPath === '//') return [fieldError.invalid(path, urlPath, 'segment[0] may not be empty')]
  const errors = urlPath.startsWith('/') ? [] : [fieldError.invalid(path, urlPath, "must start with a '/'")]
  const segments = urlPath.slice(1).replace(/\/$/, '').split('/')
  return [
    ...errors,
    ...segments.flatMap((segment, index) => {
      if (segment === '') return [fieldError.invalid(path, urlPath, `segment[${index}] may not be empty`)]
      return checkDnsSubdomain(segment).map((complaint) =>
        fieldError.invalid(path, urlPath, `segment[${index}]: ${complaint}`),
      )
    }),
  ]
}
