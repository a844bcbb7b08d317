/**
 * Host names, and the two kinds of names that Kubernetes itself has.
 */
import { utf8Length } from '../../text.ts'

/** Labels of letters of any script, symbols, digits and dashes; a name of several ends in letters only. */
export function isHostname(text: string): boolean {
  if (utf8Length(text) > 255) return false
  const labels = text.split('.')
  if (labels.some((label) => utf8Length(label) > 63)) return false
  if (labels.length === 1) return loneLabel.test(text)
  const top = labels.pop() ?? ''
  return topLabel.test(top) && labels.every((each) => label.test(each))
}

// A lone label may have a dash only as its second character: a peculiarity of upstream.
const loneLabel = /^[a-zA-Z0-9\p{S}\p{L}]-?[a-zA-Z0-9\p{S}\p{L}]{0,62}$/u
const label = /^[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u
const topLabel = /^\p{L}{2,63}$/u

export function isShortName(text: string): boolean {
  return text.length <= 63 && shortName.test(text)
}

/** Parts may be longer than 63 characters, unlike in DNS. */
export function isLongName(text: string): boolean {
  return text.length <= 253 && text.split('.').every((part) => shortName.test(part))
}

const shortName = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
