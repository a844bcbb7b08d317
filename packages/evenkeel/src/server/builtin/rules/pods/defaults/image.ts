/**
 * When an image is pulled: always for the moving tag `latest`, said or unsaid, otherwise only when it is missing.
 *
 *     nginx            latest      nginx:1.27              1.27
 *     host:5000/nginx  latest      nginx@sha256:...        none
 */

const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const domain =
  '(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?'
const path = new RegExp(`^${component}(?:/${component})*$`)
const host = new RegExp(`^${domain}$`)
const tagPattern = /^\w[\w.-]{0,127}$/
const digestPattern = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/
const imageLengthMax = 4096

export function pullPolicyFor(image: string): 'Always' | 'IfNotPresent' {
  return isLatest(image) ? 'Always' : 'IfNotPresent'
}

/** A reference that cannot be read has no tag, so it is not the latest either. */
function isLatest(image: string): boolean {
  if (image.length > imageLengthMax) return false
  const at = image.indexOf('@')
  const digest = at < 0 ? undefined : image.slice(at + 1)
  const rest = at < 0 ? image : image.slice(0, at)
  const colon = rest.lastIndexOf(':')
  const hasTag = colon > rest.lastIndexOf('/')
  const [name, tag] = hasTag ? [rest.slice(0, colon), rest.slice(colon + 1)] : [rest, undefined]
  if (
    !isName(name) ||
    (tag !== undefined && !tagPattern.test(tag)) ||
    (digest !== undefined && !digestPattern.test(digest))
  )
    return false
  return tag === undefined ? digest === undefined : tag === 'latest'
}

function isName(name: string): boolean {
  if (/^[a-f0-9]{64}$/.test(name)) return false
  const slash = name.indexOf('/')
  const first = name.slice(0, Math.max(slash, 0))
  // The first part is a host only if it looks like one.
  const isHost = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase()
  return isHost ? host.test(first) && path.test(name.slice(slash + 1)) : path.test(name)
}
