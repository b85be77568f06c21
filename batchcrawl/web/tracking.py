"""Names of query parameters that say who linked or who visits, never which page is meant.

Sources: the documentation of the vendor named beside each line, and the query stripping lists that Firefox and
Brave ship. A name goes in here only if no site is known to choose a page by it.
"""

TRACKING_PREFIXES = (
    "utm_",  # Urchin, Google Analytics
    "mtm_",  # Matomo
    "pk_",  # Piwik, Matomo's older name
    "hsa_",  # HubSpot ads
    "oly_",  # Omeda Olytics
    "vero_",  # Vero
)

TRACKING_NAMES = frozenset({
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid",  # Google Ads
    "_ga", "_gl",  # Google Analytics, linking of domains
    "fbclid", "fb_action_ids", "fb_action_types", "fb_source", "fb_ref",  # Facebook
    "igshid", "igsh",  # Instagram
    "msclkid",  # Microsoft Advertising
    "twclid",  # X
    "ttclid",  # TikTok
    "li_fat_id",  # LinkedIn
    "epik",  # Pinterest
    "rdt_cid",  # Reddit
    "sccid",  # Snapchat
    "yclid", "ymclid", "ysclid", "_openstat",  # Yandex
    "mc_cid", "mc_eid",  # Mailchimp
    "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking",  # HubSpot
    "mkt_tok",  # Marketo
    "s_cid", "ef_id", "s_kwcid",  # Adobe
    "vgo_ee",  # ActiveCampaign
    "_kx",  # Klaviyo
    "ml_subscriber", "ml_subscriber_hash",  # MailerLite
    "wickedid",  # Wicked Reports
    "rb_clickid",  # Rebel Mouse
    "irclickid", "irgwc",  # Impact
    "_branch_match_id",  # Branch
    "guccounter", "guce_referrer", "guce_referrer_sig",  # Yahoo
})  # fmt: skip

SESSION_NAMES = frozenset({
    "phpsessid",  # PHP
    "jsessionid",  # Java servlets
    "cfid", "cftoken",  # ColdFusion
    "oscsid",  # osCommerce
    "zenid",  # Zen Cart
    "aspsessionid",  # ASP
})  # fmt: skip

SESSION_NAMES_OF_HEX = frozenset({
    "sid",  # phpBB, Moodle and others: also used for section and story numbers
    "s",  # vBulletin: also used for search words
    "sessionid", "session_id", "session",
})  # fmt: skip
"""Session identifiers only where the value has the form of one: 32 or more hex digits."""
