const page = JSON.parse(document.getElementById('page-data').textContent);
document.getElementById('title').textContent = page.outcome_line ?? 'attest report';
document.getElementById('raw').textContent = JSON.stringify(page, null, 1);
