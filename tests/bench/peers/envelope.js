/** The service's envelope around JSON text. */
export function envelope(data, meta) {
  const tail = meta ? `,"meta":${JSON.stringify(meta)}` : "";
  return `{"success":true,"data":${data},"error":null${tail}}`;
}

/** The position of a page in its list. */
export function metaOf({ page = 1, limit = 50 }, total) {
  return {
    page: Number(page),
    limit: Number(limit),
    total: Number(total),
    total_pages: Math.ceil(total / limit),
  };
}
