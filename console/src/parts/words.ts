// Values as words: one place for how bytes, money and times are written.

const unknown = '–';

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function bytesText(bytes: number | undefined): string {
  if (bytes === undefined || Number.isNaN(bytes)) return unknown;
  let value = bytes;
  let unit = 0;
  // 1023.6 GiB would be written as 1024 GiB.
  while (value >= 1023.5 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? Number(value.toFixed(value < 10 ? 1 : 0)) : Number(value.toFixed(1))} ${units[unit]}`;
}

export function moneyText(amount: string | number | undefined, currency = ''): string {
  if (amount === undefined || amount === '') return unknown;
  const number = Number(amount);
  const text = Number.isFinite(number) ? number.toFixed(2) : String(amount);
  return currency ? `${text} ${currency}` : text;
}

export function durationText(seconds: number | undefined): string {
  if (seconds === undefined || Number.isNaN(seconds)) return unknown;
  const total = Math.max(0, Math.round(seconds));
  if (seconds > 0 && seconds < 10) return `${Number(seconds.toFixed(1))} s`;
  if (total < 60) return `${total} s`;
  if (total < 3600) return `${Math.floor(total / 60)} min`;
  if (total < 48 * 3600) return `${Math.floor(total / 3600)} h ${Math.floor((total % 3600) / 60)} min`.replace(' 0 min', '');
  return `${Math.floor(total / 86400)} days`;
}

/** One unit is enough for a distance: "3 h". */
function roughText(seconds: number): string {
  const hour = 3600;
  return seconds >= hour && seconds < 48 * hour ? `${Math.floor(seconds / hour)} h` : durationText(seconds);
}

/** "3 min ago", "in 12 min". */
export function agoText(time: string | undefined, now: number): string {
  if (!time) return unknown;
  const seconds = (now - Date.parse(time)) / 1000;
  if (Number.isNaN(seconds)) return unknown;
  if (Math.abs(seconds) < 5) return 'now';
  return seconds > 0 ? `${roughText(seconds)} ago` : `in ${roughText(-seconds)}`;
}

/** "1 host", "2,000 hosts". */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

export function clockText(time: number): string {
  return new Date(time).toLocaleTimeString(undefined, { hour12: false });
}
