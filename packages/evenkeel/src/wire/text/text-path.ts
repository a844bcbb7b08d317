/** The place of a value in a text, as strict decoding errors write it: `metadata.labels.a/b`, `spec.containers[0].name`. */
export function formatPath(steps: readonly (string | number)[]): string {
  let path = ''
  for (const step of steps) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`
  return path
}
